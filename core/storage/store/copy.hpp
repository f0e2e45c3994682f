// Copies one object from a store to another, 8 MiB at a time: a 5 GB asset costs one buffer.
#pragma once
#include <chrono>
#include <string>

#include "core/base/buffer_pool.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage {

inline constexpr std::chrono::seconds kCopyBufferTimeout{60};  // how long to wait for a buffer

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

// Copies `from` to `key`. With `only_if_absent`: Code::conflict when `key` exists. Code::precondition when
// the source was replaced meanwhile, Code::integrity when the bytes read or written are not the promised
// ones. A failure leaves nothing behind.
Result<CopyResult> copy_object(const CopySource& from, ObjectStore& to, const std::string& key,
                               bool only_if_absent, BufferPool& buffers);

}  // namespace dash::storage
