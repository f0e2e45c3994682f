-- Machines that runs reach. `secret` is sealed; empty without one. `host_key` is the pinned key; empty without one.
CREATE TABLE hosts (
  name TEXT PRIMARY KEY,
  address TEXT NOT NULL,
  port BIGINT NOT NULL,
  login TEXT NOT NULL,
  connection TEXT NOT NULL,
  host_key TEXT NOT NULL,
  variables TEXT NOT NULL,
  host_groups TEXT NOT NULL,
  workgroup TEXT REFERENCES workgroups (name),
  secret BLOB NOT NULL,
  secret_kind TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  created_by TEXT NOT NULL
);
CREATE INDEX hosts_workgroup ON hosts (workgroup);
