#include "core/crypto/jwt.hpp"

#include <gtest/gtest.h>

#include "core/crypto/hash.hpp"

namespace dash::crypto {
namespace {

TEST(Jwt, RefusesOtherAlgorithmsAndChangedClaims) {
  Secret key("key");
  auto now = parse_iso("2026-01-01T00:00:00Z").value();
  auto exp = to_micros(now) / 1'000'000 + 60;
  auto token = sign_jwt(key, {{"sub", "a"}, {"exp", exp}});
  EXPECT_TRUE(verify_jwt(key, token, now));
  EXPECT_FALSE(verify_jwt(key, token, now + std::chrono::seconds(60)));
  EXPECT_FALSE(verify_jwt(key, sign_jwt(key, {{"sub", "a"}}), now));
  EXPECT_FALSE(verify_jwt(key, sign_jwt(key, {{"exp", exp}, {"nbf", exp}}), now));
  auto body = to_base64url(R"({"alg":"HS512"})") + token.substr(token.find('.'));
  EXPECT_FALSE(verify_jwt(key, body, now));
  auto forged = to_base64url(R"({"alg":"none"})") + token.substr(token.find('.'));
  auto claims = forged.substr(0, forged.rfind('.'));
  EXPECT_FALSE(verify_jwt(key, claims + "." + to_base64url(hmac_sha256("key", claims)), now));
  EXPECT_FALSE(verify_jwt(key, "", now));
  EXPECT_FALSE(verify_jwt(key, "..", now));
}

}  // namespace
}  // namespace dash::crypto
