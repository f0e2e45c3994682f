-- The mark of each process that writes (core/db/postgres_writer.hpp), with the second of its last commit.
CREATE TABLE IF NOT EXISTS commit_marks (
  process TEXT PRIMARY KEY,
  mark BIGINT NOT NULL,
  at BIGINT NOT NULL
);
-- The number of 008_kept_version.sql, moved by PostgreSQL as well. 0 says that nothing moves it yet.
UPDATE kept_version SET number = 1 WHERE number = 0;
CREATE OR REPLACE FUNCTION move_kept_version() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE kept_version SET number = (random() * 9223372036854774784)::bigint; RETURN NULL; END $$;
CREATE TRIGGER kept_config AFTER INSERT OR UPDATE OR DELETE ON config FOR EACH STATEMENT EXECUTE FUNCTION move_kept_version();
CREATE TRIGGER kept_users AFTER INSERT OR UPDATE OR DELETE ON users FOR EACH STATEMENT EXECUTE FUNCTION move_kept_version();
CREATE TRIGGER kept_grants AFTER INSERT OR UPDATE OR DELETE ON grants FOR EACH STATEMENT EXECUTE FUNCTION move_kept_version();
CREATE TRIGGER kept_workgroup_members AFTER INSERT OR UPDATE OR DELETE ON workgroup_members FOR EACH STATEMENT EXECUTE FUNCTION move_kept_version();
CREATE TRIGGER kept_sessions AFTER INSERT OR UPDATE OR DELETE ON sessions FOR EACH STATEMENT EXECUTE FUNCTION move_kept_version();
