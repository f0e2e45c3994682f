-- How long the lease of a running job was when it was taken: one that ends later than that was dated by a wrong clock.
ALTER TABLE jobs ADD COLUMN lease_micros BIGINT;
