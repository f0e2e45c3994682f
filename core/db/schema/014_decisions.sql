-- Of a decision: in whose request it was made, why, whether it had an effect; a dry run never has.
ALTER TABLE decisions ADD COLUMN request_id TEXT NOT NULL DEFAULT '';
ALTER TABLE decisions ADD COLUMN reasons TEXT NOT NULL DEFAULT '[]';
ALTER TABLE decisions ADD COLUMN enforced BIGINT NOT NULL DEFAULT 1;
ALTER TABLE decisions ADD COLUMN dry_run BIGINT NOT NULL DEFAULT 0;
-- The order in which decisions were made: `at` is the evaluated instant.
ALTER TABLE decisions ADD COLUMN seq BIGINT NOT NULL DEFAULT 0;
UPDATE decisions SET seq = d.n FROM
  (SELECT id AS known, row_number() OVER (ORDER BY at, id) AS n FROM decisions) AS d WHERE d.known = decisions.id;
DROP INDEX decisions_at;
CREATE INDEX decisions_seq ON decisions (dry_run, seq);
