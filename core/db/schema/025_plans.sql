-- The approval of a deploy's plan: a third one beside those of rules and bookings. plan_digest is blank while
-- a job has no plan that an approval is for.
ALTER TABLE jobs ADD COLUMN needs_plan_approval BIGINT NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN plan_approved_by TEXT;
ALTER TABLE jobs ADD COLUMN plan_approved_at BIGINT;
ALTER TABLE jobs ADD COLUMN plan_digest TEXT NOT NULL DEFAULT '';
-- Plans that wait or were approved: what they were made from, and the program's own file, sealed. They go when
-- their job ends.
CREATE TABLE job_plans (
  job_id TEXT PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
  basis TEXT NOT NULL,
  plan BLOB NOT NULL
);
