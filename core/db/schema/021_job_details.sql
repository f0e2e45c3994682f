-- How a job's program ended, and what else a runner tells about its job: one JSON object (core/jobs/job.hpp).
ALTER TABLE jobs ADD COLUMN exit_status BIGINT;
ALTER TABLE jobs ADD COLUMN exit_signal BIGINT;
ALTER TABLE jobs ADD COLUMN details TEXT;
