-- What a migration's job has copied, so that it goes on where its process died. An empty target_etag: the copy
-- had begun.
CREATE TABLE migration_journal (
  job_id TEXT NOT NULL,
  item TEXT NOT NULL,
  source_etag TEXT NOT NULL,
  target_etag TEXT NOT NULL,
  PRIMARY KEY (job_id, item)
);
