// CRC-32C (Castagnoli; RFC 3720 §12.1): no defence against anybody, but what Google Cloud Storage tells of
// every object. Of parts that were summed apart the sum of the whole can be told without their bytes.
#pragma once
#include <cstdint>
#include <string_view>

namespace dash::crypto {

std::uint32_t crc32c(std::string_view bytes);
// Of the bytes of `first` followed by the `second_size` bytes of `second`.
std::uint32_t crc32c_combine(std::uint32_t first, std::uint32_t second, std::uint64_t second_size);

}  // namespace dash::crypto
