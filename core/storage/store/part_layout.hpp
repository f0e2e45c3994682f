// How an upload is cut into parts. The server fixes size and count at begin; clients derive both.
#pragma once
#include <algorithm>
#include <cstdint>

#include "core/base/buffer_pool.hpp"
#include "core/base/error.hpp"

namespace dash::storage {

inline constexpr std::uint64_t kMaxInlineBytes = 64ull << 20;  // 67,108,864 decoded bytes
inline constexpr std::uint64_t kMaxChunkedBytes = 5ull << 30;  // 5,368,709,120 bytes, 640 parts

// Parts are numbered from 1. An empty upload has one empty part.
constexpr std::uint32_t part_count(std::uint64_t size) {
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (size + kPartBytes - 1) / kPartBytes));
}
// `n` in 1..part_count(size).
constexpr std::uint64_t part_offset(std::uint32_t n) { return std::uint64_t{n - 1} * kPartBytes; }
constexpr std::size_t part_length(std::uint64_t size, std::uint32_t n) {
  return static_cast<std::size_t>(std::min<std::uint64_t>(kPartBytes, size - part_offset(n)));
}

// Code::invalid for zero, Code::too_large above 5 GB.
Result<void> check_chunked_size(std::uint64_t size);

}  // namespace dash::storage
