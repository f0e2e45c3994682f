// What this instance remembers about stored assets and closed uploads, beside what the store itself keeps:
// digests by etag, and handles that were committed or aborted before they expired. Thread-safe.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "core/base/clock.hpp"
#include "core/db/sql.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage {

// Of the asset with that etag; "" when it is not known. The store's own word (Object::digest) comes first.
Result<std::string> recorded_digest(db::Transaction& tx, const std::string& place, const std::string& name,
                                    const Object& object);
Result<void> record_digest(db::Transaction& tx, const std::string& place, const std::string& name,
                           const std::string& etag, const std::string& digest);
Result<void> remove_digest(db::Transaction& tx, const std::string& place, const std::string& name);

struct RecordedDigest {
  std::string etag;
  std::string digest;
};
// name → digest of everything known at a place.
using RecordedDigests = std::map<std::string, RecordedDigest>;
Result<RecordedDigests> list_digests(db::Transaction& tx, const std::string& place);

enum class UploadOutcome { committed, aborted };
Result<std::optional<UploadOutcome>> find_closed_upload(db::Transaction& tx, const std::string& handle_id);
// Closings that are remembered however long ago their handles expired: a clock that was wrong for a while
// makes every row look old, and when it is right again their handles are good.
inline constexpr std::int64_t kMaxClosedUploads = 10'000;
// Also drops the rows of handles that have expired by now, beyond the kMaxClosedUploads latest.
Result<void> close_upload(db::Transaction& tx, const std::string& handle_id, UploadOutcome how, Time expires,
                          Time now);

}  // namespace dash::storage
