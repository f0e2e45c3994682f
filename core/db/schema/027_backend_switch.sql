-- The switch of the active storage backend that runs now: one row, with the lease of the process that switches. An
-- empty owner: none runs.
CREATE TABLE backend_switch (
  id BIGINT PRIMARY KEY,
  owner TEXT NOT NULL,
  process TEXT NOT NULL,
  username TEXT NOT NULL,
  began_at BIGINT NOT NULL,
  lease_until BIGINT NOT NULL,
  lease_micros BIGINT NOT NULL
);
INSERT INTO backend_switch (id, owner, process, username, began_at, lease_until, lease_micros)
VALUES (1, '', '', '', 0, 0, 0);
