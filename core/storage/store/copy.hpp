// Copies one object from a store to another in pieces of 8 MiB, each in a buffer. The object is read as a stream
// (part_streams.hpp), and stored while the next pieces arrive, as long as the pool has buffers to spare. Several
// are stored at once where the target takes parts in any order.
#pragma once
#include <chrono>
#include <string>

#include "core/base/buffer_pool.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage {

inline constexpr std::chrono::seconds kCopyBufferTimeout{60};  // how long to wait for a buffer

// At most this many parts of one object are on their way at once.
inline constexpr std::size_t kMaxParallelParts = 4;
// So many buffers are left to others before a copy takes more than its one.
inline constexpr std::size_t kSparedBuffers = 6;

// Follows a copy piece by piece, and may delay or end it. Thread-safe.
class CopyWatch {
 public:
  virtual ~CopyWatch() = default;
  // Called before a piece is read, and with 0 before the copy becomes visible. May wait. An error ends the
  // copy.
  virtual Result<void> before_piece(std::uint64_t bytes) = 0;
  // Called when a piece was written.
  virtual void after_piece(std::uint64_t bytes) = 0;
};

struct CopyOptions {
  bool only_if_absent = false;  // Code::conflict when the key exists
  CopyWatch* watch = nullptr;
};

struct CopySource {
  ObjectStore& store;
  Object object;       // from head(); the content must have its etag
  std::string digest;  // "p8:<hex>" when known: the copy must have it
};

struct CopyResult {
  Object object;
  std::string digest;
};

// Reads exactly the bytes of `object` from `offset` on. Code::precondition when it was replaced meanwhile.
Result<void> read_exactly(ObjectStore& store, const Object& object, std::uint64_t offset,
                          std::span<char> out);

// Reads the whole object, a piece of 8 MiB at a time, and returns its digest. `watch` may end it.
Result<std::string> read_digest(ObjectStore& store, const Object& object, BufferPool& buffers,
                                CopyWatch* watch = nullptr);

// Copies `from` to `key`. Code::precondition when the source was replaced meanwhile, Code::integrity when the
// bytes read or written are not the promised ones. A failure leaves nothing behind.
Result<CopyResult> copy_object(const CopySource& from, ObjectStore& to, const std::string& key,
                               const CopyOptions& options, BufferPool& buffers);

}  // namespace dash::storage
