-- How far a job is and what it gave, as JSON texts of a runner.
ALTER TABLE jobs ADD COLUMN progress TEXT;
ALTER TABLE jobs ADD COLUMN result TEXT;
