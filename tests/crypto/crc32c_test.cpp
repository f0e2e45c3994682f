#include "core/crypto/crc32c.hpp"

#include <gtest/gtest.h>

#include "core/crypto/hash.hpp"

namespace dash::crypto {
namespace {

TEST(Crc32c, AgreesWithPublishedVectors) {
  // RFC 3720 §B.4
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43u);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);  // the check value of the catalogues
  EXPECT_EQ(crc32c(""), 0u);
}

TEST(Crc32c, OfTwoPartsIsThatOfTheWhole) {
  auto bytes = random_bytes(1000);
  std::string_view whole = bytes;
  for (std::size_t cut : {0u, 1u, 7u, 8u, 500u, 999u, 1000u}) {
    auto first = whole.substr(0, cut), second = whole.substr(cut);
    EXPECT_EQ(crc32c_combine(crc32c(first), crc32c(second), second.size()), crc32c(whole)) << cut;
  }
}

}  // namespace
}  // namespace dash::crypto
