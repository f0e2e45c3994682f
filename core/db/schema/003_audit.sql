CREATE TABLE audit_log (
  seq BIGINT PRIMARY KEY,
  at BIGINT NOT NULL,
  username TEXT NOT NULL,
  action TEXT NOT NULL,
  target TEXT,
  details TEXT NOT NULL,
  ip_address TEXT,
  request_id TEXT,
  prev_hash TEXT NOT NULL,
  entry_hash TEXT NOT NULL
);
CREATE INDEX audit_log_action ON audit_log (action, seq);
CREATE TABLE audit_head (
  one BIGINT PRIMARY KEY,
  count BIGINT NOT NULL,
  entry_hash TEXT NOT NULL,
  mac TEXT NOT NULL
);
