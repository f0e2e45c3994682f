#include "core/base/direct_write.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <new>

namespace dash {
namespace {

// Returns how many of `bytes` a direct write at `offset` can take.
std::size_t direct_size(std::uint64_t offset, std::string_view bytes) {
  auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
  if (offset % kDirectBlockBytes != 0 || address % kDirectBlockBytes != 0) return 0;
  return bytes.size() - bytes.size() % kDirectBlockBytes;
}

}  // namespace

AlignedMemory allocate_aligned(std::size_t size) {
  AlignedMemory memory(static_cast<char*>(std::aligned_alloc(kDirectBlockBytes, size)));
  if (!memory) throw std::bad_alloc();
  return memory;
}

// Opened by number, since the file may have no name or another one.
DirectWriter::DirectWriter(int fd)
    : fd_(fd),
      direct_(::open(fmt::format("/proc/self/fd/{}", fd).c_str(), O_WRONLY | O_DIRECT | O_CLOEXEC)) {}

bool DirectWriter::write(std::uint64_t offset, std::string_view bytes) const {
  bool may_be_direct = direct_.get() >= 0;
  while (!bytes.empty()) {
    auto direct = may_be_direct ? direct_size(offset, bytes) : 0;
    auto n = ::pwrite(direct > 0 ? direct_.get() : fd_, bytes.data(), direct > 0 ? direct : bytes.size(),
                      static_cast<off_t>(offset));
    if (n < 0 && errno == EINVAL && direct > 0) {
      may_be_direct = false;  // a disk with larger blocks
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
  return true;
}

}  // namespace dash
