// Chunked uploads: begin, part, status, commit, abort. All state is in the handle, so any replica with the
// same key continues an upload that another began. The caller owns the bytes of a part; nothing here stores
// them. Thread-safe.
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
#include "core/storage/upload/commit_list.hpp"
#include "core/storage/upload/handle.hpp"
#include "core/storage/upload/part_sequencer.hpp"
#include "core/storage/upload/upload_rules.hpp"

namespace dash::storage {

struct BeginResult {
  std::string handle;
  std::string backend;
  std::string filename;
  std::uint64_t size = 0;
};
// A part of an open handle, with a number that the upload has.
struct PartRequest {
  Handle handle;
  std::uint32_t n = 0;
};
struct PutPartResult {
  std::uint32_t n = 0;
  std::string ref;
  std::size_t bytes = 0;
  std::vector<SecretFinding> findings;  // of the first part
};
struct UploadStatus {
  std::string backend;
  std::string filename;
  std::uint64_t size = 0;
  std::vector<std::uint32_t> staged;          // 1, 2, … without a gap
  std::map<std::uint32_t, std::string> refs;  // of the last two, as far as this process staged them
  Time expires;
};
struct CommitResult {
  std::string backend;
  std::string filename;
  std::uint64_t size = 0;
  std::string digest;  // "" when the client did not send the parts' refs
};
struct AbortResult {
  bool aborted = false;
  std::string reason;
};

OrderedJson to_json(const BeginResult&);
OrderedJson to_json(const PutPartResult&);
OrderedJson to_json(const UploadStatus&);
OrderedJson to_json(const CommitResult&);
OrderedJson to_json(const AbortResult&);

// Parts of one upload arrive in order, one at a time. The owner of the data directory may send them in
// parallel to a store that supports it.
enum class Sequence { in_order, parallel };

class ChunkedUploads {
 public:
  struct Deps {
    UploadRules& rules;
    db::Sql& sql;
    audit::Log& audit;
    const Clock& clock;
  };
  // `key` seals handles and refs; derived from the signing key, the same on every replica. Uploads of other
  // rules have another key, so that no handle works where it was not issued.
  ChunkedUploads(Deps deps, Secret key) : deps_(deps), key_(std::move(key)), sequencer_(deps.clock) {}

  Result<BeginResult> begin(const Principal& principal, const std::string& filename, std::int64_t size);

  // Returns how the active backend takes the parts of an upload that does not come through the API.
  Result<Sequence> sequence(const Principal& principal);
  // Opens the handle and checks number and declared length, before any byte of the part is read.
  Result<PartRequest> open_part(const Principal& principal, std::string_view handle, std::int64_t n,
                                std::uint64_t declared_bytes) const;
  // Stages a part. `content_digest` is the header's value, or empty.
  Result<PutPartResult> put_part(const Principal& principal, const PartRequest& request, const Payload& part,
                                 std::string_view content_digest, Sequence sequence = Sequence::in_order);
  // Does the same for a part whose handle is still sealed.
  Result<PutPartResult> put_part(const Principal& principal, std::string_view handle, std::int64_t n,
                                 const Payload& part, std::string_view content_digest,
                                 Sequence sequence = Sequence::in_order);
  Result<UploadStatus> status(const Principal& principal, std::string_view handle);
  // Commits the upload. `parts` is the count, a list of numbers, or a list of {part, ref}.
  Result<CommitResult> commit(const Principal& principal, std::string_view handle, const Json& parts);
  // Succeeds even when something could not be discarded; the result lists it. Nothing can be staged or
  // committed afterwards.
  Result<AbortResult> abort(const Principal& principal, std::string_view handle);

 private:
  Result<Handle> unseal_handle(const Principal& principal, std::string_view text) const;
  Result<OpenBackend> store_of(const Principal& principal, const Handle& handle);
  Result<std::optional<UploadOutcome>> find_closed(const Handle& handle);
  Result<void> check_open(const Handle& handle);
  Result<PutPartResult> stage(const OpenBackend& backend, const Handle& handle, std::uint32_t n,
                              const Payload& part);
  Result<void> check_in_order(const OpenBackend& backend, const Handle& handle,
                              const PartSequencer::UploadLock& lock, std::uint32_t n);
  Result<std::vector<StagedPart>> staged(const OpenBackend& backend, const Handle& handle);
  Result<std::vector<StagedPart>> staged_or_acknowledged(const OpenBackend& backend, const Handle& handle,
                                                         const CommitList& list);
  Result<void> check_latest(const Handle& handle, const CommitList& list);
  Result<CommitResult> commit_open(const Principal& principal, const OpenBackend& backend,
                                   const Handle& handle, const Json& parts);
  Result<void> record(const Principal& principal, const OpenBackend& backend, const Handle& handle,
                      const Object& object, const std::string& digest);
  Deps deps_;
  Secret key_;
  PartSequencer sequencer_;
};

}  // namespace dash::storage
