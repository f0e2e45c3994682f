#include "core/crypto/hash.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace dash::crypto
