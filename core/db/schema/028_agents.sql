-- Remote agents. public_key is the base64 of 32 bytes, empty until the agent enrols and once it is revoked.
-- code_hash is the hex SHA-256 of the enrolment code, empty without one. The lists are JSON arrays of texts.
-- copied_at is when two addresses, copied_ips, signed for the agent within a minute.
CREATE TABLE agents (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  site TEXT NOT NULL,
  description TEXT NOT NULL,
  public_key TEXT NOT NULL DEFAULT '',
  code_hash TEXT NOT NULL DEFAULT '',
  code_expires_at BIGINT,
  allowed_job_types TEXT NOT NULL,
  reported_job_types TEXT NOT NULL DEFAULT '[]',
  features TEXT NOT NULL DEFAULT '[]',
  agent_version TEXT NOT NULL DEFAULT '',
  policy_hash TEXT NOT NULL DEFAULT '',
  created_at BIGINT NOT NULL,
  created_by TEXT NOT NULL,
  enrolled_at BIGINT,
  revoked_at BIGINT,
  last_seen_at BIGINT,
  last_seen_ip TEXT NOT NULL DEFAULT '',
  copied_at BIGINT,
  copied_ips TEXT NOT NULL DEFAULT ''
);
CREATE INDEX agents_code ON agents (code_hash);
-- The nonces of requests whose signature held. They go when no request can be fresh any more.
CREATE TABLE agent_nonces (
  agent_id TEXT NOT NULL,
  nonce TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (agent_id, nonce)
);
CREATE INDEX agent_nonces_at ON agent_nonces (agent_id, at);
-- Jobs of agents: queued, running, completed, failed or cancelled. payload is sealed and goes when the job is
-- leased or ends; result is sealed and goes when the one who waits has taken it. summary is what may stay.
CREATE TABLE agent_jobs (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL,
  job_type TEXT NOT NULL,
  state TEXT NOT NULL,
  summary TEXT NOT NULL,
  payload BLOB,
  result BLOB,
  error TEXT NOT NULL DEFAULT '',
  progress BIGINT NOT NULL DEFAULT 0,
  message TEXT NOT NULL DEFAULT '',
  log_lines BIGINT NOT NULL DEFAULT 0,
  is_awaited BIGINT NOT NULL DEFAULT 1,
  created_at BIGINT NOT NULL,
  created_by TEXT NOT NULL,
  expires_at BIGINT NOT NULL,
  leased_at BIGINT,
  heard_at BIGINT,
  ended_at BIGINT,
  answered_at BIGINT
);
CREATE INDEX agent_jobs_queue ON agent_jobs (state, agent_id, created_at);
CREATE INDEX agent_jobs_ended ON agent_jobs (ended_at);
CREATE TABLE agent_job_logs (
  job_id TEXT NOT NULL REFERENCES agent_jobs (id) ON DELETE CASCADE,
  n BIGINT NOT NULL,
  line TEXT NOT NULL,
  PRIMARY KEY (job_id, n)
);
-- What was released for a job: each reference once.
CREATE TABLE agent_job_secrets (
  job_id TEXT NOT NULL REFERENCES agent_jobs (id) ON DELETE CASCADE,
  ref TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (job_id, ref)
);
