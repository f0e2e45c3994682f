#include "core/crypto/x25519.hpp"

#include <gtest/gtest.h>

#include "core/crypto/hash.hpp"
#include "tests/support/must.hpp"

namespace dash::crypto {
namespace {

// RFC 7748 §6.1.
TEST(X25519, MakesThePublicKeyOfTheRfcAndAgrees) {
  auto key = [](const char* hex) { return x25519_from_private(Secret(*from_hex(hex))); };
  auto alice = new_x25519_key();
  auto bob = key("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
  EXPECT_EQ(to_hex(bob.public_key), "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f");
  EXPECT_EQ(must(x25519_agree(alice, bob.public_key)).expose(),
            must(x25519_agree(bob, alice.public_key)).expose());
}

TEST(X25519, RefusesKeysThatAgreeOnNothing) {
  auto key = new_x25519_key();
  EXPECT_FALSE(x25519_agree(key, std::string(32, '\0')));
  EXPECT_FALSE(x25519_agree(key, std::string(1, '\1') + std::string(31, '\0')));
  EXPECT_FALSE(x25519_agree(key, "short"));
}

}  // namespace
}  // namespace dash::crypto
