-- When the instance last swept its stores by itself: one row, so that one replica takes the turn.
CREATE TABLE storage_sweep (
  id BIGINT PRIMARY KEY,
  began_at BIGINT NOT NULL
);
INSERT INTO storage_sweep (id, began_at) VALUES (1, 0);
-- What a backend held at its last sweep.
CREATE TABLE storage_usage (
  backend TEXT PRIMARY KEY,
  items BIGINT NOT NULL,
  bytes BIGINT NOT NULL,
  counted_at BIGINT NOT NULL
);
