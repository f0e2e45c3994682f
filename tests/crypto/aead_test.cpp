#include "core/crypto/aead.hpp"

#include <gtest/gtest.h>

namespace dash::crypto {
namespace {

TEST(Aead, OpensOnlyWithTheSameKeyAadAndBytes) {
  Secret key(std::string(32, 'k'));
  auto sealed = seal(key, "text", "aad");
  EXPECT_EQ(open(key, sealed, "aad").value(), "text");
  EXPECT_FALSE(open(key, sealed, "other"));
  EXPECT_FALSE(open(Secret(std::string(32, 'x')), sealed, "aad"));
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    auto changed = sealed;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(open(key, changed, "aad")) << i;
  }
  EXPECT_FALSE(open(key, "", "aad"));
  EXPECT_NE(seal(key, "text", "aad"), sealed);
}

}  // namespace
}  // namespace dash::crypto
