// Writes large content to a file past the page cache, where the file system allows that. The bytes are copied once
// less, are on their way to the disk while the next ones arrive, and push nothing out of memory. Like any write
// they are durable after fsync().
#pragma once
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "core/base/fd.hpp"

namespace dash {

// Memory and place of a direct write are multiples of this, the largest block of a common disk.
inline constexpr std::size_t kDirectBlockBytes = 4096;

struct FreeMemory {
  void operator()(char* memory) const { std::free(memory); }
};
using AlignedMemory = std::unique_ptr<char[], FreeMemory>;
// Returns memory that direct writes can take. `size` is a multiple of kDirectBlockBytes.
AlignedMemory allocate_aligned(std::size_t size);

// An open file that is written at positions. Thread-safe.
class DirectWriter {
 public:
  // `fd` is open for writing and outlives the writer.
  explicit DirectWriter(int fd);
  // Writes all of `bytes`. Whole blocks of aligned memory at an aligned offset go past the page cache, the rest
  // through it. Returns false with errno.
  bool write(std::uint64_t offset, std::string_view bytes) const;

 private:
  int fd_;
  Fd direct_;  // the same file; none where the file system has no direct writes
};

}  // namespace dash
