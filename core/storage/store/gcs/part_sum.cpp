#include "core/storage/store/gcs/part_sum.hpp"

#include "core/crypto/crc32c.hpp"
#include "core/crypto/hash.hpp"

namespace dash::storage::gcs {

std::string part_ref(std::string_view bytes) { return fmt::format("{:08x}", crypto::crc32c(bytes)); }

std::optional<std::string> expected_crc32c(const std::vector<StagedPart>& parts) {
  std::uint32_t whole = 0;
  for (const auto& part : parts) {
    auto raw = crypto::from_hex(part.ref);
    if (!raw || raw->size() != 4) return std::nullopt;
    std::uint32_t sum = 0;
    for (char c : *raw) sum = sum << 8 | static_cast<unsigned char>(c);
    whole = crypto::crc32c_combine(whole, sum, part.size);
  }
  std::string big_endian;
  for (int shift = 24; shift >= 0; shift -= 8) big_endian += static_cast<char>(whole >> shift & 0xFF);
  return crypto::to_base64(big_endian);
}

}  // namespace dash::storage::gcs
