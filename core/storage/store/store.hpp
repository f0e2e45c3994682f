// The seam to a store: one bucket, container or folder. Keys are whole (the asset prefix is the caller's) and
// pass check_key() (key.hpp). Thread-safe. Never retries: retry is a decorator (retry.hpp). Errors leave as
// Code (http_error.hpp): not_found for an absent key or upload, conflict and precondition for unmet
// conditions, busy, unreachable and timeout for what may pass, upstream for what somebody must mend
// (credentials, clock, a missing bucket); the store's own code stands in the message.
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
#include "core/base/room.hpp"

namespace dash::storage {

struct Object {
  std::string key;
  std::uint64_t size = 0;
  std::string etag;  // changes with the content; opaque
  Time modified;
  std::string digest;  // "p8:<hex>" when the store keeps it with the object and told it; else empty
};

struct ObjectPage {
  std::vector<Object> objects;  // by key, code-point order
  std::string cursor;           // for the next page; empty: this was the last
};

// Bytes to store. Who has hashed them already says so, and no store does it again.
struct Payload {
  std::string_view bytes;
  std::string_view sha256 = {};  // 32 raw bytes, or empty

  Payload(const std::convertible_to<std::string_view> auto& text) : bytes(text) {}
  Payload(std::string_view content, std::string_view digest) : bytes(content), sha256(digest) {}
};

// An object as its first bytes were read.
struct OpenResult {
  Object object;
  std::size_t size = 0;  // bytes that were read
};

struct PutOptions {
  std::string digest;           // kept with the object where the store can
  bool only_if_absent = false;  // Code::conflict when there is one
};

// A part as the store knows it.
struct StagedPart {
  std::uint32_t n = 0;  // from 1
  std::uint64_t size = 0;
  std::string ref;  // the store's own word for these bytes; empty where it has none
};

// What a caller may plan with.
struct Capabilities {
  std::uint64_t max_bytes = 0;       // of one object sent through begin()
  bool is_parallel = true;           // parts of one upload may be staged at once, in any order
  bool keeps_digest_on_put = false;  // head() tells PutOptions::digest again
  bool keeps_digest_on_commit = false;
  bool copies_inside = false;
  bool drops_aborted =
      true;  // else abort() leaves parts to the store's own time, and a commit would find them
};

class ObjectStore {
 public:
  virtual ~ObjectStore() = default;
  virtual Capabilities capabilities() const { return {}; }
  // Endpoint and bucket (or folder), for messages and to notice that the settings moved:
  // "https://host/bucket".
  virtual std::string place() const = 0;

  virtual Result<ObjectPage> list(std::string_view prefix, std::string_view cursor) = 0;
  virtual Result<Object> head(const std::string& key) = 0;
  // Bytes from `offset` on, as many as `out` holds or the object has; how many there were. `must_match`: an
  // etag, or empty.
  virtual Result<std::uint64_t> read(const std::string& key, std::uint64_t offset,
                                     std::string_view must_match, const Room& out) = 0;
  // head() and read() of the front in one: a small object costs one request where the store can do that.
  virtual Result<OpenResult> open(const std::string& key, std::span<char> out) {
    auto object = TRY(head(key));
    auto size = object.size == 0 ? 0u : TRY(read(key, 0, object.etag, out));
    return OpenResult{std::move(object), size};
  }
  // Replaces as one step: nobody sees half an object.
  virtual Result<Object> put(const std::string& key, const Payload& payload, const PutOptions& options) = 0;
  virtual Result<void> remove(const std::string& key) = 0;

  // An upload is a plain value: any process with the same settings goes on with it. Nothing is listed or
  // replaced before commit. `size` is nullopt when only the last part tells it.
  virtual Result<std::string> begin(const std::string& key, std::optional<std::uint64_t> size) = 0;
  // Parts have kPartBytes but for the last. The same number again replaces. Code::not_found: the upload is
  // gone.
  virtual Result<std::string> put_part(const std::string& upload, std::uint32_t n, const Payload& payload,
                                       bool is_last) = 0;
  virtual Result<std::vector<StagedPart>> staged_parts(const std::string& upload) = 0;
  // `parts` is 1, 2, … without a gap, as staged_parts() told them; a ref that it left empty may be
  // put_part()'s. When an answer was lost, the same call again answers the object that it made, as long as
  // nothing replaced it.
  virtual Result<Object> commit(const std::string& upload, const std::vector<StagedPart>& parts,
                                const PutOptions& options) = 0;
  virtual Result<void> abort(const std::string& upload) = 0;

  // Code::invalid, saying what stands there, when the key is the name of something that is no object: a
  // folder or a link of a file system.
  virtual Result<void> check_target(const std::string& /*key*/) { return {}; }

  // Drops what crashes left beneath `prefix`: uploads that began before `older_than`. How many.
  virtual Result<std::uint32_t> sweep(std::string_view /*prefix*/, Time /*older_than*/) { return 0u; }
  // A copy that the store makes itself; the caller's memory and network see nothing of it.
  virtual Result<Object> copy_inside(const std::string& /*from*/, const std::string& /*to*/) {
    return fail(Code::unsupported, "{} does not copy inside of itself", place());
  }
};

}  // namespace dash::storage
