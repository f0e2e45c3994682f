-- The number of the newest change that the list of agents shows. A copied row keeps its change_number, and does not
-- count as a change.
ALTER TABLE change_head ADD COLUMN agents BIGINT NOT NULL DEFAULT 0;
ALTER TABLE agents ADD COLUMN change_number BIGINT NOT NULL DEFAULT 0;
UPDATE agents SET change_number = 1;
CREATE TRIGGER agents_inserted AFTER INSERT ON agents WHEN NEW.change_number = 0 BEGIN UPDATE change_head SET number = number + 1, agents = number + 1; UPDATE agents SET change_number = 1 WHERE id = NEW.id; END;
CREATE TRIGGER agents_updated AFTER UPDATE OF name, site, description, public_key, code_expires_at, allowed_job_types, reported_job_types, features, agent_version, policy_hash, enrolled_at, revoked_at, copied_at ON agents BEGIN UPDATE change_head SET number = number + 1, agents = number + 1; END;
CREATE TRIGGER agents_deleted AFTER DELETE ON agents BEGIN UPDATE change_head SET number = number + 1, agents = number + 1; END;
CREATE FUNCTION number_agent_change() RETURNS trigger AS $$ BEGIN UPDATE change_head SET number = number + 1, agents = number + 1; IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; NEW.change_number := 1; RETURN NEW; END $$ LANGUAGE plpgsql;
CREATE TRIGGER agents_inserted BEFORE INSERT ON agents FOR EACH ROW WHEN (NEW.change_number = 0) EXECUTE FUNCTION number_agent_change();
CREATE TRIGGER agents_updated BEFORE UPDATE OF name, site, description, public_key, code_expires_at, allowed_job_types, reported_job_types, features, agent_version, policy_hash, enrolled_at, revoked_at, copied_at ON agents FOR EACH ROW EXECUTE FUNCTION number_agent_change();
CREATE TRIGGER agents_deleted BEFORE DELETE ON agents FOR EACH ROW EXECUTE FUNCTION number_agent_change();
