-- The latest listing of a remote agent's share, sealed, for all replicas. `share` is the SHA-256 of agent, share
-- and subpath. Every change of the share raises `generation`; a listing that began under an older one is not kept.
CREATE TABLE agent_listings (
  share TEXT PRIMARY KEY,
  generation BIGINT NOT NULL,
  listed_at BIGINT,
  listing BLOB
);
