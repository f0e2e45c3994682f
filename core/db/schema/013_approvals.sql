-- How often a job was rescheduled or lost an approval since it was submitted.
ALTER TABLE jobs ADD COLUMN revision BIGINT NOT NULL DEFAULT 0;
-- Who rescheduled a job, and so may not approve it.
CREATE TABLE job_reschedules (
  job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  username TEXT NOT NULL,
  PRIMARY KEY (job_id, username)
);
-- The reschedules of an older release are in the audit log.
INSERT INTO job_reschedules (job_id, username)
  SELECT DISTINCT j.id, a.username FROM jobs j JOIN audit_log a
  ON a.action = 'change_rescheduled' AND a.details LIKE '%"' || j.id || '"%';
UPDATE jobs SET revision = 1 WHERE id IN (SELECT job_id FROM job_reschedules)
  OR message = 'the rules changed: it has to be approved again';
