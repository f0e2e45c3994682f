// The interface to a store: one bucket, container or folder. Keys are whole (the caller adds the asset
// prefix) and pass check_key() (key.hpp). Thread-safe. Never retries: retry is a decorator (retry.hpp).
// Errors have a Code (http_error.hpp): not_found for an absent key or upload, conflict and precondition for
// unmet conditions, busy, unreachable and timeout for transient failures, upstream for what an operator must
// repair (credentials, clock, a missing bucket). The message has the store's own code.
#pragma once
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/stream.hpp"

namespace dash::storage {

// Where stores without uploads of their own stage them.
inline constexpr std::string_view kStagingPrefix = ".dashctl-uploads/";

struct Object {
  std::string key;
  std::uint64_t size = 0;
  std::string etag;  // changes with the content; opaque
  Time modified;
  std::string digest;  // "p8:<hex>" when the store has it with the object; else empty
};

struct ObjectPage {
  std::vector<Object> objects;  // by key, code-point order
  std::string cursor;           // for the next page; empty: this is the last
};

// Bytes to store. A caller that has their hash passes it, and no store hashes them again.
struct Payload {
  std::string_view bytes;
  std::string_view sha256 = {};  // 32 raw bytes, or empty

  Payload(const std::convertible_to<std::string_view> auto& text) : bytes(text) {}
  Payload(std::string_view content, std::string_view digest) : bytes(content), sha256(digest) {}
};

// An object and its first bytes, read together.
struct OpenResult {
  Object object;
  std::size_t size = 0;  // number of bytes read
};

struct PutOptions {
  std::string digest;           // stored with the object where the store can
  bool only_if_absent = false;  // Code::conflict when the key exists
  std::string lease{};          // the id of the lease under which it is replaced; empty: none
  std::string lease_note{};     // of that lease: it stays
};

// A part as the store lists it.
struct StagedPart {
  std::uint32_t n = 0;  // from 1
  std::uint64_t size = 0;
  std::string ref;  // the store's own id of these bytes; empty where it has none
};

// What a crash or a client that stopped left in a store: an unfinished upload, or a file of its staging.
struct Leftover {
  std::string key;          // full, without the bucket
  Time began;               // of a file system's: when it was last written
  std::uint64_t bytes = 0;  // staged
  std::string upload;       // the store's own name of it, for drop()
};

// A version of an object that the store keeps.
struct ObjectVersion {
  std::string id{};  // the store's own; empty where the newest has none
  std::uint64_t size = 0;
  Time modified{};
  bool is_current = false;
  bool is_deletion = false;  // the object was deleted then
};
enum class Versioning { off, on, unknown };  // unknown: the store or the account's permissions do not show it
struct VersionsResult {
  Versioning versioning = Versioning::off;
  std::vector<ObjectVersion> versions;  // of the object, newest first, snapshots included
};

// A copy that the service makes, without memory or network of the caller.
struct InsideCopy {
  Object from;         // from head(); the content must have its etag
  std::string bucket;  // of the same account, where `from` is; empty: the store's own
  std::string to;
  bool only_if_absent = false;  // Code::conflict when the key exists
  // Called now and then with the bytes copied so far. An error ends the copy, and nothing of it is left.
  std::function<Result<void>(std::uint64_t bytes_done)> watch{};

  Result<void> report(std::uint64_t bytes_done) const {
    if (watch) return watch(bytes_done);
    return {};
  }
};

// What a caller may rely on.
struct Capabilities {
  std::uint64_t max_bytes = 0;       // of one object sent through begin()
  bool is_parallel = true;           // parts of one upload may be staged in any order and in parallel
  bool keeps_digest_on_put = false;  // head() returns PutOptions::digest
  bool keeps_digest_on_commit = false;
  bool copies_inside = false;
  bool takes_parts = true;  // false: begin() is refused, and put() is the only way in
  // False: abort() leaves parts until the store expires them, and a commit would find them.
  bool drops_aborted = true;
};

class ObjectStore {
 public:
  virtual ~ObjectStore() = default;
  virtual Capabilities capabilities() const { return {}; }
  // Returns endpoint and bucket (or folder), for messages and to notice a change of settings:
  // "https://host/bucket".
  virtual std::string place() const = 0;

  virtual Result<ObjectPage> list(std::string_view prefix, std::string_view cursor) = 0;
  // Forgets a listing that the store keeps, so that the next list() asks the other side.
  virtual Result<void> forget_listing() { return {}; }
  virtual Result<Object> head(const std::string& key) = 0;
  // Writes the bytes of `range` that the object has to `out`, in order from position 0 on; returns how many.
  // The range has at least one byte. `must_match` is an etag, or empty. A failed call may have written some
  // bytes; a retry begins at position 0 again.
  virtual Result<std::uint64_t> read(const std::string& key, ByteRange range, std::string_view must_match,
                                     RandomWriter& out) = 0;
  // Reads bytes from `offset` on into `out`, until it is full or the object ends. Returns how many.
  Result<std::uint64_t> read(const std::string& key, std::uint64_t offset, std::string_view must_match,
                             std::span<char> out) {
    SpanWriter writer(out);
    return read(key, {offset, out.size()}, must_match, writer);
  }
  // Calls head() and reads the front in one. A small object costs one request where the store can do that.
  virtual Result<OpenResult> open(const std::string& key, std::span<char> out) {
    auto object = TRY(head(key));
    auto size = object.size == 0 ? 0u : TRY(read(key, 0, object.etag, out));
    return OpenResult{std::move(object), size};
  }
  // Replaces in one step: no reader sees half an object.
  virtual Result<Object> put(const std::string& key, const Payload& payload, const PutOptions& options) = 0;
  virtual Result<void> remove(const std::string& key) = 0;
  // Removes the object that head() returned. Code::precondition when it was replaced meanwhile; a store
  // without conditional deletes looks just before.
  virtual Result<void> remove_unchanged(const Object& object) {
    if (TRY(head(object.key)).etag != object.etag)
      return fail(Code::precondition, "'{}' was replaced", object.key);
    return remove(object.key);
  }

  // Begins an upload and returns it as a plain value: any process with the same settings can continue it.
  // Nothing is listed or replaced before commit. `size` is nullopt when it is known only at the last part.
  virtual Result<std::string> begin(const std::string& key, std::optional<std::uint64_t> size) = 0;
  // Like begin(), for an upload that only this process continues: its parts need not outlive a crash. A commit
  // that fails may not be repeated.
  virtual Result<std::string> begin_at_once(const std::string& key, std::uint64_t size) {
    return begin(key, size);
  }
  // Stages a part of kPartBytes; the last may be shorter. The same number again replaces it. Code::not_found
  // when the upload is gone.
  virtual Result<std::string> put_part(const std::string& upload, std::uint32_t n, const Payload& payload,
                                       bool is_last) = 0;
  virtual Result<std::vector<StagedPart>> staged_parts(const std::string& upload) = 0;
  // Commits the upload. `parts` is 1, 2, … without a gap, as staged_parts() returned them. A ref that is
  // empty there may be put_part()'s. After a lost response the same call again returns the object that it
  // made, as long as nothing replaced it.
  virtual Result<Object> commit(const std::string& upload, const std::vector<StagedPart>& parts,
                                const PutOptions& options) = 0;
  virtual Result<void> abort(const std::string& upload) = 0;

  // Code::invalid, with what it found, when the key names something that is no object: a folder or a link of
  // a file system.
  virtual Result<void> check_target(const std::string& /*key*/) { return {}; }

  // Returns what the holder of a lease on the object noted with it (JSON, or ""); nullopt without a lease,
  // and where the store has none.
  virtual Result<std::optional<std::string>> find_lease(const std::string& /*key*/) { return std::nullopt; }
  // Takes a lease without end under this id (a UUID) and notes `note` with it. Makes an empty object where there
  // is none. Code::conflict when the object is leased.
  virtual Result<void> take_lease(const std::string& key, const std::string& /*id*/,
                                  const std::string& /*note*/) {
    return fail(Code::unsupported, "{} has no leases, so '{}' can have none", place(), key);
  }
  // Ends the lease that has this id. Code::conflict when it has another.
  virtual Result<void> release_lease(const std::string& key, const std::string& /*id*/) {
    return fail(Code::unsupported, "{} has no leases, so '{}' has none", place(), key);
  }
  // Lists what began before `older_than` and was never committed, by keys that begin with `prefix`. A store
  // that writes staging files lists them beneath kStagingPrefix. Code::upstream while the store's clock is
  // apart from ours.
  virtual Result<std::vector<Leftover>> leftovers(std::string_view /*prefix*/, Time /*older_than*/) {
    return std::vector<Leftover>();
  }
  // Removes what leftovers() listed. Code::not_found when it is gone, Code::conflict when it is in use again.
  virtual Result<void> drop(const Leftover& leftover) {
    return fail(Code::unsupported, "{} keeps no unfinished uploads like '{}'", place(), leftover.key);
  }
  // Returns whether the store keeps what a write replaces, and what it keeps of the object. A blank key asks
  // for the first alone.
  virtual Result<VersionsResult> versions(const std::string& /*key*/) { return VersionsResult{}; }
  // Makes the copy, and returns when it is complete: no reader sees half of it.
  virtual Result<Object> copy_inside(const InsideCopy& /*copy*/) {
    return fail(Code::unsupported, "{} does not copy inside of itself", place());
  }
};

}  // namespace dash::storage
