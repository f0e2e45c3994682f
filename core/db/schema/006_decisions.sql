CREATE TABLE decisions (
  id TEXT PRIMARY KEY,
  at BIGINT NOT NULL,
  action TEXT NOT NULL,
  username TEXT NOT NULL,
  verdict TEXT NOT NULL,
  rules TEXT NOT NULL,
  policy_digest TEXT NOT NULL,
  input_digest TEXT NOT NULL,
  input TEXT NOT NULL
);
CREATE INDEX decisions_at ON decisions (at, id);
