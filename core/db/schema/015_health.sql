-- What tells the key of an instance from a wrong one though single settings are damaged (core/app/health.hpp),
-- and the row by which a background check finds out whether the database takes writes.
CREATE TABLE key_check (
  one BIGINT PRIMARY KEY,
  sealed BLOB NOT NULL
);
CREATE TABLE write_check (
  one BIGINT PRIMARY KEY,
  at BIGINT NOT NULL
);
INSERT INTO write_check (one, at) VALUES (1, 0);
