-- Instance facts that must not depend on any key: whether it is set up, the setup code's hash, counters of settings.
CREATE TABLE instance (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
);
CREATE TABLE config (
  key TEXT PRIMARY KEY,
  value BLOB NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE TABLE config_history (
  seq BIGINT PRIMARY KEY,
  change_id TEXT NOT NULL,
  key TEXT NOT NULL,
  old_value BLOB,
  new_value BLOB,
  changed_at BIGINT NOT NULL,
  changed_by TEXT NOT NULL,
  origin TEXT NOT NULL
);
CREATE INDEX config_history_change ON config_history (change_id);
CREATE INDEX config_history_key ON config_history (key, seq);
CREATE TABLE vaults (
  id TEXT NOT NULL,
  backend TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  created_by TEXT NOT NULL,
  PRIMARY KEY (id, backend)
);
CREATE TABLE notification_endpoints (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  url BLOB NOT NULL,
  fmt TEXT NOT NULL,
  secret BLOB,
  event_types TEXT,
  enabled BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  created_by TEXT NOT NULL,
  last_success_at BIGINT,
  last_error TEXT
);
