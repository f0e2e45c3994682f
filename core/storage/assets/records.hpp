// What this instance records about stored assets and closed uploads, besides what the store itself has:
// digests by etag, and handles that were committed or aborted before they expired. Thread-safe.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>

#include "core/base/clock.hpp"
#include "core/db/sql.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage {

// Returns the digest of the asset with that etag; "" when unknown. The store's own digest (Object::digest)
// has priority.
Result<std::string> recorded_digest(db::Transaction& tx, const std::string& place, const std::string& name,
                                    const Object& object);
Result<void> record_digest(db::Transaction& tx, const std::string& place, const std::string& name,
                           const std::string& etag, const std::string& digest);
Result<void> remove_digest(db::Transaction& tx, const std::string& place, const std::string& name);

struct RecordedDigest {
  std::string etag;
  std::string digest;
};
// name → digest, of those of the assets that are recorded.
using RecordedDigests = std::map<std::string, RecordedDigest>;
Result<RecordedDigests> list_digests(db::Transaction& tx, const std::string& place,
                                     std::span<const std::string> names);

enum class UploadOutcome { committed, aborted };
Result<std::optional<UploadOutcome>> find_closed_upload(db::Transaction& tx, const std::string& handle_id);
// This many closings are kept however long ago their handles expired. A clock that was wrong for a while
// makes every row look old, and once it is right again those handles are valid.
inline constexpr std::int64_t kMaxClosedUploads = 10'000;
// Also drops the rows of expired handles, beyond the kMaxClosedUploads latest.
Result<void> close_upload(db::Transaction& tx, const std::string& handle_id, UploadOutcome how, Time expires,
                          Time now);

}  // namespace dash::storage
