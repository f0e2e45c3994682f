-- What built-in deploys leave for their destroy: the module that ran, sealed, once for each of its versions.
CREATE TABLE deploy_modules (
  digest TEXT PRIMARY KEY,
  module BLOB NOT NULL,
  kept_at BIGINT NOT NULL
);
-- The state of a deploy, by the job that made it. resources counts those of the state that was written last.
-- lock_id is the lock that a run took through us and has not ended. errored is a state, sealed, that a program
-- could not write; it is written on the next occasion.
CREATE TABLE deploy_states (
  job_id TEXT PRIMARY KEY,
  action TEXT NOT NULL,
  module_digest TEXT NOT NULL,
  resources BIGINT NOT NULL DEFAULT 0,
  lock_id TEXT NOT NULL DEFAULT '',
  errored BLOB,
  outputs BLOB
);
