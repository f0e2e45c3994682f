CREATE TABLE audit_log (
  seq BIGINT PRIMARY KEY,
  at BIGINT NOT NULL,
  username TEXT NOT NULL,
  action TEXT NOT NULL,
  target TEXT,
  details TEXT NOT NULL,
  ip_address TEXT NOT NULL,
  request_id TEXT NOT NULL,
  seal BLOB NOT NULL,
  entry_hash BLOB NOT NULL
);
CREATE INDEX audit_log_action ON audit_log (action, seq);
CREATE INDEX audit_log_username ON audit_log (username, seq);
-- The one row with the length of the log. It is made here, so that its absence is a finding.
CREATE TABLE audit_head (
  one BIGINT PRIMARY KEY,
  count BIGINT NOT NULL,
  entry_hash TEXT NOT NULL,
  frontier TEXT NOT NULL,
  tainted_at BIGINT NOT NULL,
  mac TEXT NOT NULL
);
INSERT INTO audit_head (one, count, entry_hash, frontier, tainted_at, mac) VALUES (1, 0, '', '', 0, '');
