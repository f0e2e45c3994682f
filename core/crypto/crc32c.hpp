// CRC-32C (Castagnoli; RFC 3720 §12.1). It is no protection against an attacker. Google Cloud Storage reports
// it for every object, and the sum of a whole follows from the sums of its parts.
#pragma once
#include <cstdint>
#include <string_view>

namespace dash::crypto {

std::uint32_t crc32c(std::string_view bytes);
// Returns the sum of the bytes of `first` followed by the `second_size` bytes of `second`.
std::uint32_t crc32c_combine(std::uint32_t first, std::uint32_t second, std::uint64_t second_size);

}  // namespace dash::crypto
