CREATE TABLE users (
  username TEXT PRIMARY KEY,
  password_hash TEXT NOT NULL,
  is_admin BIGINT NOT NULL,
  is_active BIGINT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE TABLE grants (
  username TEXT NOT NULL REFERENCES users (username) ON DELETE CASCADE,
  permission TEXT NOT NULL,
  PRIMARY KEY (username, permission)
);
CREATE TABLE workgroups (
  name TEXT PRIMARY KEY,
  description TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  change_window_id TEXT,
  require_change_window BIGINT NOT NULL
);
CREATE TABLE workgroup_members (
  workgroup TEXT NOT NULL REFERENCES workgroups (name) ON DELETE CASCADE,
  username TEXT NOT NULL REFERENCES users (username) ON DELETE CASCADE,
  PRIMARY KEY (workgroup, username)
);
CREATE INDEX workgroup_members_user ON workgroup_members (username);
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  username TEXT NOT NULL REFERENCES users (username) ON DELETE CASCADE,
  expires_at BIGINT NOT NULL
);
CREATE INDEX sessions_user ON sessions (username);
CREATE TABLE tokens (
  id TEXT PRIMARY KEY,
  username TEXT NOT NULL REFERENCES users (username) ON DELETE CASCADE,
  name TEXT NOT NULL,
  token_hash TEXT NOT NULL UNIQUE,
  created_at BIGINT NOT NULL,
  expires_at BIGINT,
  last_used_at BIGINT,
  revoked_at BIGINT
);
CREATE TABLE attempts (
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  at BIGINT NOT NULL
);
CREATE INDEX attempts_subject ON attempts (kind, subject, at);
