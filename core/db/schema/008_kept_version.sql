-- A number that changes with every commit to the tables that are read for each request and cached in memory
-- (core/db/versioned_cache.hpp). It is random, not counted, so that a restored copy never repeats one.
CREATE TABLE kept_version (
  one BIGINT PRIMARY KEY,
  number BIGINT NOT NULL
);
INSERT INTO kept_version (one, number) VALUES (1, 0);
CREATE TRIGGER kept_config_insert AFTER INSERT ON config BEGIN UPDATE kept_version SET number = random(); END;
CREATE TRIGGER kept_config_update AFTER UPDATE ON config BEGIN UPDATE kept_version SET number = random(); END;
CREATE TRIGGER kept_config_delete AFTER DELETE ON config BEGIN UPDATE kept_version SET number = random(); END;
CREATE TRIGGER kept_users_insert AFTER INSERT ON users BEGIN UPDATE kept_version SET number = random(); END;
CREATE TRIGGER kept_users_update AFTER UPDATE ON users BEGIN UPDATE kept_version SET number = random(); END;
CREATE TRIGGER kept_users_delete AFTER DELETE ON users BEGIN UPDATE kept_version SET number = random(); END;
CREATE TRIGGER kept_grants_insert AFTER INSERT ON grants BEGIN UPDATE kept_version SET number = random(); END;
CREATE TRIGGER kept_grants_update AFTER UPDATE ON grants BEGIN UPDATE kept_version SET number = random(); END;
CREATE TRIGGER kept_grants_delete AFTER DELETE ON grants BEGIN UPDATE kept_version SET number = random(); END;
CREATE TRIGGER kept_workgroup_members_insert AFTER INSERT ON workgroup_members BEGIN UPDATE kept_version SET number = random(); END;
CREATE TRIGGER kept_workgroup_members_update AFTER UPDATE ON workgroup_members BEGIN UPDATE kept_version SET number = random(); END;
CREATE TRIGGER kept_workgroup_members_delete AFTER DELETE ON workgroup_members BEGIN UPDATE kept_version SET number = random(); END;
CREATE TRIGGER kept_sessions_insert AFTER INSERT ON sessions BEGIN UPDATE kept_version SET number = random(); END;
CREATE TRIGGER kept_sessions_update AFTER UPDATE ON sessions BEGIN UPDATE kept_version SET number = random(); END;
CREATE TRIGGER kept_sessions_delete AFTER DELETE ON sessions BEGIN UPDATE kept_version SET number = random(); END;
