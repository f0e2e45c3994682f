#include "core/crypto/password.hpp"

#include <gtest/gtest.h>

namespace dash::crypto {
namespace {

TEST(Password, VerifiesItsOwnHashOnly) {
  auto hash = hash_password(Secret("hunter2!"));
  EXPECT_TRUE(verify_password(Secret("hunter2!"), hash));
  EXPECT_FALSE(verify_password(Secret("hunter3!"), hash));
  for (auto text : {"", "scrypt$ln=15,r=8,p=1$", "scrypt$ln=99,r=8,p=1$AAAA$AAAA", "plain"})
    EXPECT_FALSE(verify_password(Secret("hunter2!"), text)) << text;
}

}  // namespace
}  // namespace dash::crypto
