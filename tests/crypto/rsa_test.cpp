#include <gtest/gtest.h>

#include "core/base/file.hpp"
#include "core/crypto/hash.hpp"
#include "core/crypto/keys.hpp"
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

}  // namespace
}  // namespace dash::crypto
