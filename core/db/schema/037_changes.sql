-- Numbers the changes that lists show, so that followers read what is newer than they have seen, on whichever
-- replica. Writers take turns, so a smaller number is never committed later. A copied row keeps its number.
CREATE TABLE change_head (
  one BIGINT PRIMARY KEY,
  number BIGINT NOT NULL
);
INSERT INTO change_head (one, number) SELECT 1, coalesce(max(seq), 0) FROM jobs;
ALTER TABLE jobs ADD COLUMN change_number BIGINT NOT NULL DEFAULT 0;
UPDATE jobs SET change_number = seq;
CREATE INDEX jobs_change_number ON jobs (change_number);
CREATE TRIGGER jobs_inserted AFTER INSERT ON jobs WHEN NEW.change_number = 0 BEGIN UPDATE change_head SET number = number + 1; UPDATE jobs SET change_number = (SELECT number FROM change_head) WHERE id = NEW.id; END;
CREATE TRIGGER jobs_updated AFTER UPDATE OF resource_id, state, reason, message, run_at, window_ends_at, change_window_id, needs_policy_approval, needs_booking_approval, needs_plan_approval, approval_reasons, approval_digest, approval_expires_at, policy_approved_by, booking_approved_by, plan_approved_by, plan_digest, revision, cancel_requested, started_at, completed_at, error, destroyed_by, progress, result, exit_status, exit_signal, details ON jobs BEGIN UPDATE change_head SET number = number + 1; UPDATE jobs SET change_number = (SELECT number FROM change_head) WHERE id = NEW.id; END;
CREATE FUNCTION take_change_number() RETURNS trigger AS $$ BEGIN UPDATE change_head SET number = number + 1 RETURNING number INTO NEW.change_number; RETURN NEW; END $$ LANGUAGE plpgsql;
CREATE TRIGGER jobs_inserted BEFORE INSERT ON jobs FOR EACH ROW WHEN (NEW.change_number = 0) EXECUTE FUNCTION take_change_number();
CREATE TRIGGER jobs_updated BEFORE UPDATE OF resource_id, state, reason, message, run_at, window_ends_at, change_window_id, needs_policy_approval, needs_booking_approval, needs_plan_approval, approval_reasons, approval_digest, approval_expires_at, policy_approved_by, booking_approved_by, plan_approved_by, plan_digest, revision, cancel_requested, started_at, completed_at, error, destroyed_by, progress, result, exit_status, exit_signal, details ON jobs FOR EACH ROW EXECUTE FUNCTION take_change_number();
