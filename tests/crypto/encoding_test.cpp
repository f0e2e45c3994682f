#include <gtest/gtest.h>

#include "core/crypto/hash.hpp"

namespace dash::crypto {
namespace {

TEST(Base64, RoundTripsEveryLength) {
  for (std::size_t n = 0; n < 70; ++n) {
    auto bytes = random_bytes(n);
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
    EXPECT_EQ(from_base64url(to_base64url(bytes)), bytes);
    EXPECT_EQ(from_hex(to_hex(bytes)), bytes);
  }
  EXPECT_EQ(to_base64("foobar"), "Zm9vYmFy");  // RFC 4648 §10
  EXPECT_EQ(to_base64("fooba"), "Zm9vYmE=");
}

TEST(Base64, RefusesAnythingButTheOneCanonicalText) {
  for (auto text : {"Zm9vYmE", "Zm9v YmE=", "Zm9vYmE==", "Zm9vYmF=", "Zg=", "Z===", "Zm9_", "=", "Zg==Zg=="})
    EXPECT_FALSE(from_base64(text)) << text;
  for (auto text : {"Zg==", "Zh", "Zm9v\n", "Zm9+"}) EXPECT_FALSE(from_base64url(text)) << text;
}

}  // namespace
}  // namespace dash::crypto
