#include <gtest/gtest.h>

#include "core/crypto/aead.hpp"
#include "core/crypto/hash.hpp"
#include "core/crypto/jwt.hpp"
#include "core/crypto/keys.hpp"
#include "core/crypto/password.hpp"

namespace dash::crypto {
namespace {

TEST(Hash, AgreesWithPublishedVectors) {
  EXPECT_EQ(to_hex(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");  // FIPS 180-4
  EXPECT_EQ(to_hex(md5("abc")), "900150983cd24fb0d6963f7d28e17f72");              // RFC 1321
  EXPECT_EQ(to_hex(sha1("abc")), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),  // RFC 4231, case 2
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  // RFC 5869, case 1
  EXPECT_EQ(to_hex(hkdf_sha256(std::string(22, '\x0b'), *from_hex("000102030405060708090a0b0c"),
                               *from_hex("f0f1f2f3f4f5f6f7f8f9"), 42)),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865");
}

TEST(Hash, TakesPiecesLikeTheWhole) {
  Sha256 pieces;
  pieces.update("a");
  pieces.update("");
  pieces.update("bc");
  EXPECT_EQ(pieces.finish(), sha256("abc"));
}

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

TEST(Password, VerifiesItsOwnHashOnly) {
  auto hash = hash_password(Secret("hunter2!"));
  EXPECT_TRUE(verify_password(Secret("hunter2!"), hash));
  EXPECT_FALSE(verify_password(Secret("hunter3!"), hash));
  for (auto text : {"", "scrypt$ln=15,r=8,p=1$", "scrypt$ln=99,r=8,p=1$AAAA$AAAA", "plain"})
    EXPECT_FALSE(verify_password(Secret("hunter2!"), text)) << text;
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
