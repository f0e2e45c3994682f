#include "core/crypto/keys.hpp"

#include <gtest/gtest.h>

#include "core/base/file.hpp"
#include "core/crypto/hash.hpp"
#include "tests/support/must.hpp"

namespace dash::crypto {
namespace {

Secret draft_key() { return Secret(must(read_file(DASH_TESTDATA "/oci/draft_cavage_key.pem", 1 << 16))); }

// draft-cavage-http-signatures-08, appendix C.1.
TEST(RsaKey, SignsAsThePublishedVectorSays) {
  auto key = must(RsaKey::from_pem(draft_key(), Secret()));
  EXPECT_EQ(to_base64(key.sign_sha256("date: Thu, 05 Jan 2014 21:31:40 GMT")),
            "jKyvPcxB4JbmYY4mByyBY7cZfNl4OW9HpFQlG7N4YcJPteKTu4MWCLyk+"
            "gIr0wDgqtLWf9NLpMAMimdfsH7FSWGfbMFSrsVTHNTk0rK3"
            "usrfFnti1dxsM4jl0kYJCKTGI/UWkqiaxwNiKqGcdlEDrTcUhhsFsOIo8VhddmZTZ8w=");
}

TEST(RsaKey, TellsItsPublicKey) {
  EXPECT_EQ(to_hex(md5(must(RsaKey::from_pem(draft_key(), Secret())).public_der())),
            "7361a22167e0dfbe7e4b931e1598a5b7");
}

TEST(RsaKey, RefusesWhatIsNoRsaKey) {
  for (std::string text :
       {"", "text", "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n"}) {
    auto key = RsaKey::from_pem(Secret(text), Secret());
    ASSERT_FALSE(key) << text;
    EXPECT_EQ(key.error().code, Code::invalid);
  }
}

TEST(Ed25519, AgreesWithRfc8032) {  // §7.1, test 2
  auto key = ed25519_from_seed(
      Secret(*from_hex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")));
  EXPECT_EQ(to_hex(key.public_key), "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
  auto signature = ed25519_sign(key, "\x72");
  EXPECT_EQ(to_hex(signature),
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
            "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00");
  EXPECT_TRUE(ed25519_verify(key.public_key, "\x72", signature));
  EXPECT_FALSE(ed25519_verify(key.public_key, "\x73", signature));
}

}  // namespace
}  // namespace dash::crypto
