-- Additive steps leave min_version alone: an older program goes on with a newer schema. A step that such a program
-- would not survive has a line "-- min_version" of its own (core/db/schema.cpp), and sets it to its number.
-- min_version
ALTER TABLE schema_version ADD COLUMN min_version BIGINT NOT NULL DEFAULT 0;
