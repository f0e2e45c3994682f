-- Jobs of one batch that one program runs: whoever claims the first of them gets all.
ALTER TABLE jobs ADD COLUMN run_group TEXT;
CREATE INDEX jobs_run_group ON jobs (run_group, seq);
