CREATE TABLE change_windows (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL,
  start_at_local TEXT NOT NULL,
  duration_minutes BIGINT NOT NULL,
  timezone TEXT NOT NULL,
  schedule_days TEXT NOT NULL,
  enabled BIGINT NOT NULL,
  created_by TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
-- A job of a gated action cannot be stored without the gate's receipt, whatever code writes the row.
CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  seq BIGINT NOT NULL UNIQUE,
  action TEXT NOT NULL,
  receipt TEXT NOT NULL,
  workgroup TEXT,
  name TEXT NOT NULL,
  region TEXT NOT NULL,
  resource_id TEXT,
  batch_id TEXT,
  request TEXT NOT NULL,
  parameters BLOB NOT NULL,
  state TEXT NOT NULL,
  reason TEXT,
  message TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  created_by TEXT NOT NULL,
  created_by_admin BIGINT NOT NULL,
  run_at BIGINT,
  window_ends_at BIGINT,
  change_window_id TEXT,
  needs_policy_approval BIGINT NOT NULL,
  needs_booking_approval BIGINT NOT NULL,
  approval_reasons TEXT NOT NULL,
  approval_digest TEXT NOT NULL,
  approval_expires_at BIGINT,
  policy_approved_by TEXT,
  policy_approved_at BIGINT,
  booking_approved_by TEXT,
  booking_approved_at BIGINT,
  retry_after BIGINT,
  attempts BIGINT NOT NULL,
  lease_owner TEXT,
  lease_until BIGINT,
  cancel_requested BIGINT NOT NULL,
  started_at BIGINT,
  completed_at BIGINT,
  error TEXT,
  destroyed_by TEXT,
  CHECK (receipt <> '' OR action NOT IN ('cloud1:vm:deploy', 'cloud2:vm:deploy', 'cloud3:vm:deploy', 'cloud4:compute:deploy', 'clouddb:provision', 'k8s:provision', 'cloud1:vm:destroy', 'cloud2:vm:destroy', 'cloud3:vm:destroy', 'cloud4:compute:destroy'))
);
CREATE INDEX jobs_state ON jobs (state, seq);
CREATE INDEX jobs_resource ON jobs (action, name);
CREATE INDEX jobs_resource_id ON jobs (action, resource_id);
CREATE INDEX jobs_batch ON jobs (batch_id);
CREATE TABLE job_logs (
  job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  n BIGINT NOT NULL,
  at BIGINT NOT NULL,
  line TEXT NOT NULL,
  PRIMARY KEY (job_id, n)
);
