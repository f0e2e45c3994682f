#include "core/jobs/secret_mask.hpp"

#include <gtest/gtest.h>

#include "core/crypto/hash.hpp"
#include "core/net/http/http_client.hpp"
#include "tests/support/must.hpp"

namespace dash::jobs {
namespace {

const std::string kPlanted = "pl4nted/secret+value";

// Writes `text` in pieces of `size` bytes.
std::string masked_in_pieces(const SecretMask& mask, std::string_view text, std::size_t size) {
  StringSink out(10'000);
  MaskingSink sink(mask, out);
  for (std::size_t at = 0; at < text.size(); at += size) must(sink.write(text.substr(at, size)));
  must(sink.finish());
  return out.take();
}

TEST(SecretMask, ReplacesASecretHoweverItArrives) {
  SecretMask mask({kPlanted});
  for (auto size : {1u, 2u, 3u, 7u, 100u})
    EXPECT_EQ(masked_in_pieces(mask, "a " + kPlanted + " b " + kPlanted, size), "a ******** b ********")
        << size;
}

TEST(SecretMask, PassesOnWhatOnlyBeginsLikeASecret) {
  SecretMask mask({kPlanted});
  EXPECT_EQ(masked_in_pieces(mask, "pl4nted/secretary", 1), "pl4nted/secretary");
  EXPECT_EQ(masked_in_pieces(mask, "pl4ntpl4nted/secret+value", 4), "pl4nt********");
}

TEST(SecretMask, FindsItInBase64AtEveryOffsetAndInBothAlphabets) {
  SecretMask mask({kPlanted});
  for (std::string before : {"", "u", "us", "usr", "user:"}) {
    for (std::string after : {"", "x", "xy", "xyz"}) {
      auto clear = before + kPlanted + after;
      for (const auto& encoded : {crypto::to_base64(clear), crypto::to_base64url(clear)}) {
        auto masked = mask.mask(encoded);
        EXPECT_NE(masked.find("********"), masked.npos) << clear;
        EXPECT_LE(masked.size(), encoded.size()) << clear;
      }
    }
  }
}

TEST(SecretMask, FindsItUrlEncodedAndInJson) {
  SecretMask mask({"p4ss word/\"quoted\""});
  EXPECT_EQ(mask.mask("?p=p4ss%20word%2F%22quoted%22&x"), "?p=********&x");
  EXPECT_EQ(mask.mask("?p=p4ss%20word%2f%22quoted%22&x"), "?p=********&x");
  EXPECT_EQ(mask.mask("?p=p4ss+word%2F%22quoted%22&x"), "?p=********&x");
  EXPECT_EQ(mask.mask(R"({"p": "p4ss word/\"quoted\""})"), R"({"p": "********"})");
}

TEST(SecretMask, FindsEveryLineOfAKey) {
  SecretMask mask({"-----BEGIN KEY-----\nabcdefghij\nklmnopqrst\n-----END KEY-----\n"});
  EXPECT_EQ(mask.mask("task: klmnopqrst"), "task: ********");
  EXPECT_EQ(mask.mask(R"(-----BEGIN KEY-----\nabcdefghij\nklmnopqrst\n-----END KEY-----\n)"), "********");
}

TEST(SecretMask, TakesTheLongerOfTwoSecrets) {
  SecretMask mask({"secret", "secret-longer"});
  EXPECT_EQ(masked_in_pieces(mask, "secret-longer secret-long", 3), "******** ********-long");
}

TEST(SecretMask, RefusesASecretThatIsTooShortToBeMasked) {
  EXPECT_EQ(check_maskable("token", "12345").error().code, Code::validation);
  EXPECT_TRUE(check_maskable("token", "123456"));
}

}  // namespace
}  // namespace dash::jobs
