#include "core/storage/assets/records.hpp"

#include "core/db/each_of.hpp"

namespace dash::storage {

Result<std::string> recorded_digest(db::Transaction& tx, const std::string& place, const std::string& name,
                                    const Object& object) {
  if (!object.digest.empty()) return object.digest;
  auto rows = TRY(tx.query("SELECT digest FROM asset_digests WHERE place = $1 AND name = $2 AND etag = $3",
                           {place, name, object.etag}));
  return rows.empty() ? std::string() : rows[0].text(0);
}

Result<void> record_digest(db::Transaction& tx, const std::string& place, const std::string& name,
                           const std::string& etag, const std::string& digest) {
  if (digest.empty() || etag.empty()) return remove_digest(tx, place, name);
  TRY(tx.exec(R"(INSERT INTO asset_digests (place, name, etag, digest)
                 VALUES ($1, $2, $3, $4)
                 ON CONFLICT (place, name) DO UPDATE SET etag = excluded.etag, digest = excluded.digest)",
              {place, name, etag, digest}));
  return {};
}

Result<void> remove_digest(db::Transaction& tx, const std::string& place, const std::string& name) {
  TRY(tx.exec("DELETE FROM asset_digests WHERE place = $1 AND name = $2", {place, name}));
  return {};
}

Result<RecordedDigests> list_digests(db::Transaction& tx, const std::string& place,
                                     std::span<const std::string> names) {
  RecordedDigests all;
  TRY(db::each_of(tx, "SELECT name, etag, digest FROM asset_digests WHERE place = $1 AND name IN ({0})",
                  {place}, names, [&](const db::Row& row) -> Result<void> {
                    all.emplace(row.text(0), RecordedDigest{row.text(1), row.text(2)});
                    return {};
                  }));
  return all;
}

Result<std::optional<UploadOutcome>> find_closed_upload(db::Transaction& tx, const std::string& handle_id) {
  auto rows = TRY(tx.query("SELECT committed FROM closed_uploads WHERE id = $1", {handle_id}));
  if (rows.empty()) return std::nullopt;
  return rows[0].flag(0) ? UploadOutcome::committed : UploadOutcome::aborted;
}

Result<void> close_upload(db::Transaction& tx, const std::string& handle_id, UploadOutcome how, Time expires,
                          Time now) {
  TRY(tx.exec(R"(DELETE FROM closed_uploads
                 WHERE expires_at < $1
                   AND expires_at < (SELECT expires_at FROM closed_uploads
                                     ORDER BY expires_at DESC LIMIT 1 OFFSET $2))",
              {to_micros(now), kMaxClosedUploads}));
  TRY(tx.exec(R"(INSERT INTO closed_uploads (id, committed, expires_at)
                 VALUES ($1, $2, $3)
                 ON CONFLICT (id) DO NOTHING)",
              {handle_id, std::int64_t{how == UploadOutcome::committed}, to_micros(expires)}));
  return {};
}

}  // namespace dash::storage
