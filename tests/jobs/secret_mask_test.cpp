#include "core/jobs/secret_mask.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/crypto/hash.hpp"
#include "core/net/http/http_client.hpp"

namespace dash::jobs {
namespace {

const std::string kPlanted = "pl4nted/secret+value";

constexpr std::size_t kCutAt = 30;

std::string masked_lines(const SecretMask& mask, const std::vector<std::string>& lines) {
  return mask.mask_lines(lines, kCutAt);
}

TEST(SecretMask, ReplacesASecretAndNotWhatOnlyBeginsLikeOne) {
  SecretMask mask({kPlanted});
  EXPECT_EQ(mask.mask("a " + kPlanted + " b " + kPlanted), "a ******** b ********");
  EXPECT_EQ(mask.mask("pl4nted/secretary"), "pl4nted/secretary");
  EXPECT_EQ(mask.mask("pl4ntpl4nted/secret+value"), "pl4nt********");
}

TEST(SecretMask, LeavesOutAnEndThatWasCutWithinASecret) {
  SecretMask mask({kPlanted});
  for (std::size_t left = 1; left < kPlanted.size(); ++left) {
    auto before = std::string(kCutAt - left, 'x');
    EXPECT_EQ(masked_lines(mask, {before + kPlanted.substr(0, left)}), before) << left;
    EXPECT_EQ(masked_lines(mask, {"a", before + kPlanted.substr(0, left), "b"}), "a\n" + before + "\nb")
        << left;
  }
  auto encoded = crypto::to_base64(kPlanted);
  EXPECT_EQ(masked_lines(mask, {std::string(20, 'x') + encoded.substr(0, 10)}), std::string(20, 'x'));
  auto whole = std::string(kCutAt - kPlanted.size(), 'x') + kPlanted;
  EXPECT_EQ(masked_lines(mask, {whole}), std::string(kCutAt - kPlanted.size(), 'x') + "********");
  EXPECT_EQ(masked_lines(mask, {"pl4nted"}), "pl4nted");
}

TEST(SecretMask, FindsASecretOfSeveralLines) {
  SecretMask mask({"first\nnext1\nlast2"});
  EXPECT_EQ(masked_lines(mask, {"a", "first", "next1", "last2", "b"}), "a\n********\nb");
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

TEST(SecretMask, FindsItInJsonOfEveryWriterAndInJsonWithinJson) {
  SecretMask mask({"zo\u00eb \"quoted\""});
  for (auto text :
       {"zo\u00eb \\\"quoted\\\"", "zo\\u00eb \\\"quoted\\\"", "zo\\\\u00eb \\\\\\\"quoted\\\\\\\""})
    EXPECT_EQ(mask.mask(fmt::format(R"({{"p": "{}"}})", text)), R"({"p": "********"})") << text;
}

TEST(SecretMask, FindsItInLinesOfBase64) {
  std::string secret;
  for (int i = 0; i < 30; ++i) secret += fmt::format("k{:05}", i);
  SecretMask mask({secret});
  for (std::size_t length : {64u, 76u}) {
    auto encoded = crypto::to_base64(secret);
    for (std::size_t at = 0; at < encoded.size(); at += length)
      EXPECT_EQ(mask.mask("  " + encoded.substr(at, length)), "  ********") << length;
  }
}

TEST(SecretMask, FindsEveryLineOfAKey) {
  SecretMask mask({"-----BEGIN KEY-----\nabcdefghij\nklmnopqrst\n-----END KEY-----\n"});
  EXPECT_EQ(mask.mask("task: klmnopqrst"), "task: ********");
  EXPECT_EQ(mask.mask(R"(-----BEGIN KEY-----\nabcdefghij\nklmnopqrst\n-----END KEY-----\n)"), "********");
}

TEST(SecretMask, TakesTheLongerOfTwoSecrets) {
  SecretMask mask({"secret", "secret-longer"});
  EXPECT_EQ(mask.mask("secret-longer secret-long"), "******** ********-long");
  EXPECT_EQ(masked_lines(mask, {std::string(19, 'x') + "secret-long"}), std::string(19, 'x'));
}

TEST(SecretMask, RefusesASecretThatIsTooShortToBeMasked) {
  EXPECT_EQ(check_maskable("token", "12345").error().code, Code::validation);
  EXPECT_TRUE(check_maskable("token", "123456"));
}

}  // namespace
}  // namespace dash::jobs
