#include "core/crypto/crc32c.hpp"

#include <array>

namespace dash::crypto {
namespace {

constexpr std::uint32_t kPolynomial = 0x82F63B78;  // reflected

// kTables[k][b] is the effect of byte b on the sum when k more bytes follow. Eight bytes a step.
constexpr auto kTables = [] {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    auto sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ (sum & 1 ? kPolynomial : 0);
    tables[0][byte] = sum;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t byte = 0; byte < 256; ++byte)
      tables[k][byte] = (tables[k - 1][byte] >> 8) ^ tables[0][tables[k - 1][byte] & 0xFF];
  return tables;
}();

// A linear map on sums: column n is the image of bit n.
using LinearMap = std::array<std::uint32_t, 32>;

std::uint32_t apply_map(const LinearMap& map, std::uint32_t sum) {
  std::uint32_t image = 0;
  for (std::size_t bit = 0; sum; ++bit, sum >>= 1)
    if (sum & 1) image ^= map[bit];
  return image;
}

LinearMap square(const LinearMap& map) {
  LinearMap out{};
  for (std::size_t bit = 0; bit < 32; ++bit) out[bit] = apply_map(map, map[bit]);
  return out;
}

// Returns the effect of one appended zero bit on a sum.
LinearMap zero_bit_map() {
  LinearMap map{kPolynomial};
  for (std::size_t bit = 1; bit < 32; ++bit) map[bit] = 1u << (bit - 1);
  return map;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t sum = ~0u;
  auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  for (; bytes.size() >= 8; bytes.remove_prefix(8))
    sum = kTables[7][(sum ^ at(0)) & 0xFF] ^ kTables[6][((sum >> 8) ^ at(1)) & 0xFF] ^
          kTables[5][((sum >> 16) ^ at(2)) & 0xFF] ^ kTables[4][((sum >> 24) ^ at(3)) & 0xFF] ^
          kTables[3][at(4)] ^ kTables[2][at(5)] ^ kTables[1][at(6)] ^ kTables[0][at(7)];
  for (std::size_t i = 0; i < bytes.size(); ++i) sum = (sum >> 8) ^ kTables[0][(sum ^ at(i)) & 0xFF];
  return ~sum;
}

std::uint32_t crc32c_combine(std::uint32_t first, std::uint32_t second, std::uint64_t second_size) {
  auto zeros = square(square(square(zero_bit_map())));  // one zero byte
  for (; second_size; second_size >>= 1, zeros = square(zeros))
    if (second_size & 1) first = apply_map(zeros, first);
  return first ^ second;
}

}  // namespace dash::crypto
