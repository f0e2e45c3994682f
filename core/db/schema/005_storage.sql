-- Which workgroup an asset belongs to; assets without a row are global. The reference keeps a workgroup that is in use.
CREATE TABLE asset_scopes (
  backend TEXT NOT NULL,
  name TEXT NOT NULL,
  workgroup TEXT NOT NULL REFERENCES workgroups (name),
  PRIMARY KEY (backend, name)
);
CREATE INDEX asset_scopes_workgroup ON asset_scopes (workgroup);
-- The p8 digest that an asset had when its store gave it this etag.
CREATE TABLE asset_digests (
  place TEXT NOT NULL,
  name TEXT NOT NULL,
  etag TEXT NOT NULL,
  digest TEXT NOT NULL,
  PRIMARY KEY (place, name)
);
-- Handles that were committed or aborted before they expired: no store remembers all of them. Not a session: an open upload
-- has no row.
CREATE TABLE closed_uploads (
  id TEXT PRIMARY KEY,
  committed BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX closed_uploads_expiry ON closed_uploads (expires_at);
