// The chunked lane (2-storage.md, Chunked upload): begin, part, status, commit, abort. All state rides in the
// handle; any replica with the same key goes on with an upload that another began. Part bytes are the
// caller's, this keeps none. Thread-safe.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/audit/log.hpp"
#include "core/base/clock.hpp"
#include "core/base/json.hpp"
#include "core/base/principal.hpp"
#include "core/base/secret.hpp"
#include "core/storage/assets/records.hpp"
#include "core/storage/assets/scope.hpp"
#include "core/storage/assets/secret_scan.hpp"
#include "core/storage/settings/stores.hpp"
#include "core/storage/upload/commit_list.hpp"
#include "core/storage/upload/handle.hpp"
#include "core/storage/upload/order.hpp"

namespace dash::storage {

struct Begun {
  std::string handle;
  std::string backend;
  std::string filename;
  std::uint64_t size = 0;
};
struct StagedAnswer {
  std::uint32_t n = 0;
  std::string ref;
  std::size_t bytes = 0;
  std::vector<Finding> findings;  // of the first part
};
struct UploadStatus {
  std::string backend;
  std::string filename;
  std::uint64_t size = 0;
  std::vector<std::uint32_t> staged;          // 1, 2, … without a gap
  std::map<std::uint32_t, std::string> refs;  // of the last of them, as far as this process staged them
  Time expires;
};
struct Committed {
  std::string backend;
  std::string filename;
  std::uint64_t size = 0;
  std::string digest;  // "" when the client did not send the parts' refs
};
struct Aborted {
  bool aborted = false;
  std::string why_not;
};

OrderedJson to_json(const Begun&);
OrderedJson to_json(const StagedAnswer&);
OrderedJson to_json(const UploadStatus&);
OrderedJson to_json(const Committed&);
OrderedJson to_json(const Aborted&);

// Parts of one upload arrive in order, one at a time; but who holds the data directory may send them side by
// side to a store that takes them so.
enum class Sequence { in_order, side_by_side };

class Lane {
 public:
  struct Seams {
    Stores& stores;
    Scopes& scopes;
    db::Sql& sql;
    audit::Log& audit;
    const Clock& clock;
  };
  // `key` seals handles and refs; derived from the signing key, the same on every replica.
  Lane(Seams seams, Secret key) : seams_(seams), key_(std::move(key)), order_(seams.clock) {}

  Result<Begun> begin(const Principal& who, const std::string& filename, std::int64_t size);

  // How the active backend takes the parts of an upload that does not come through the API.
  Result<Sequence> sequence(const Principal& who);
  // What can be told from a part's head, before a byte of it is read: handle, number, declared length.
  Result<void> admit_part(const Principal& who, std::string_view handle, std::int64_t n,
                          std::uint64_t declared_bytes) const;
  // `content_digest`: the header's value, or empty.
  Result<StagedAnswer> put_part(const Principal& who, std::string_view handle, std::int64_t n,
                                const Payload& part, std::string_view content_digest,
                                Sequence sequence = Sequence::in_order);
  Result<UploadStatus> status(const Principal& who, std::string_view handle);
  // `parts`: the count, a list of numbers, or a list of {part, ref}.
  Result<Committed> commit(const Principal& who, std::string_view handle, const Json& parts);
  // Never fails loudly: what could not be discarded is in the answer. Nothing can be staged or committed
  // afterwards.
  Result<Aborted> abort(const Principal& who, std::string_view handle);

 private:
  Result<Handle> open_text(const Principal& who, std::string_view text) const;
  Result<Opened> store_of(const Principal& who, const Handle& handle);
  Result<std::optional<Closed>> closed(const Handle& handle);
  Result<void> require_open(const Handle& handle);
  Result<StagedAnswer> stage(const Opened& at, const Handle& handle, std::uint32_t n, const Payload& part);
  Result<void> require_turn(const Opened& at, const Handle& handle, const Order::Turn& turn, std::uint32_t n);
  Result<std::vector<StagedPart>> staged(const Opened& at, const Handle& handle);
  Result<std::vector<StagedPart>> staged_or_answered(const Opened& at, const Handle& handle,
                                                     const CommitList& list);
  Result<Committed> commit_open(const Principal& who, const Opened& at, const Handle& handle,
                                const Json& parts);
  Result<void> record(const Principal& who, const Opened& at, const Handle& handle, const Object& object,
                      const std::string& digest);
  Seams seams_;
  Secret key_;
  Order order_;
};

}  // namespace dash::storage
