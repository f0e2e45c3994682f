-- Workgroups and change windows are read for each change, and so cached like the tables of 008_kept_version.sql.
CREATE TRIGGER kept_workgroups_insert AFTER INSERT ON workgroups BEGIN UPDATE kept_version SET number = random(); END;
CREATE TRIGGER kept_workgroups_update AFTER UPDATE ON workgroups BEGIN UPDATE kept_version SET number = random(); END;
CREATE TRIGGER kept_workgroups_delete AFTER DELETE ON workgroups BEGIN UPDATE kept_version SET number = random(); END;
CREATE TRIGGER kept_change_windows_insert AFTER INSERT ON change_windows BEGIN UPDATE kept_version SET number = random(); END;
CREATE TRIGGER kept_change_windows_update AFTER UPDATE ON change_windows BEGIN UPDATE kept_version SET number = random(); END;
CREATE TRIGGER kept_change_windows_delete AFTER DELETE ON change_windows BEGIN UPDATE kept_version SET number = random(); END;
CREATE TRIGGER kept_workgroups AFTER INSERT OR UPDATE OR DELETE ON workgroups FOR EACH STATEMENT EXECUTE FUNCTION move_kept_version();
CREATE TRIGGER kept_change_windows AFTER INSERT OR UPDATE OR DELETE ON change_windows FOR EACH STATEMENT EXECUTE FUNCTION move_kept_version();
