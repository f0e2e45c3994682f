#include "core/storage/store/part_layout.hpp"

namespace dash::storage {

Result<void> check_chunked_size(std::uint64_t size) {
  if (size == 0) return fail(Code::invalid, "size must be at least 1; send an empty file by the inline lane");
  if (size > kMaxChunkedBytes)
    return fail(Code::too_large,
                "size {} is above the chunked ceiling of {} bytes (5 GB); place larger objects in the bucket "
                "out of band, "
                "they will be listed",
                size, kMaxChunkedBytes);
  return {};
}

}  // namespace dash::storage
