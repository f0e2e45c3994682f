CREATE TABLE workers (
  owner TEXT PRIMARY KEY,
  threads BIGINT NOT NULL,
  started_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL
);
