-- One row a failed login: the account's folded name (it need not exist) and the network of the client.
-- Older releases counted them in the table attempts. Those of the last minutes are dropped.
CREATE TABLE login_failures (
  username TEXT NOT NULL,
  address TEXT NOT NULL,
  at BIGINT NOT NULL
);
CREATE INDEX login_failures_username ON login_failures (username, address, at);
CREATE INDEX login_failures_address ON login_failures (address, at);
CREATE INDEX login_failures_at ON login_failures (at);
-- Networks from which an account signed in, with the latest time.
CREATE TABLE login_addresses (
  username TEXT NOT NULL REFERENCES users (username) ON DELETE CASCADE,
  address TEXT NOT NULL,
  seen_at BIGINT NOT NULL,
  PRIMARY KEY (username, address)
);
DELETE FROM attempts WHERE kind IN ('login.account', 'login.address');
