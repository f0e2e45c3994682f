#include "core/storage/assets/secret_scan.hpp"

#include <gtest/gtest.h>

namespace dash::storage {
namespace {

std::string key(std::string_view prefix, std::size_t length, char fill) {
  return std::string(prefix) + std::string(length, fill);
}

}  // namespace

TEST(SecretScan, FindsEachKindWithRuleLineAndRedactedMatch) {
  auto text = "# head\n" + key("AKIA", 16, 'Q') + "\nx\n" + key("ghp_", 36, 'a') + "\n" +
              key("AIza", 35, 'b') + "\n" + key("xoxb-", 12, '1') + "\n-----BEGIN OPENSSH PRIVATE KEY-----\n";
  auto found = scan_for_secrets("a.sh", text);
  ASSERT_EQ(found.size(), 5u);
  EXPECT_EQ(found[0].rule, "aws_access_key_id");
  EXPECT_EQ(found[0].line, 2u);
  EXPECT_EQ(found[0].match, "AKI…QQ");
  EXPECT_EQ(found[1].rule, "github_token");
  EXPECT_EQ(found[1].line, 4u);
  EXPECT_EQ(found[2].rule, "google_api_key");
  EXPECT_EQ(found[3].rule, "slack_token");
  EXPECT_EQ(found[4].rule, "private_key");
  EXPECT_EQ(found[4].line, 7u);
}

TEST(SecretScan, GivesOneFindingForASecretKeyAndOneForAPassword) {
  auto found = scan_for_secrets(
      "s.sh",
      "export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\npassword: hunter2hunter2\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(
      to_json(found).dump(),
      R"([{"rule":"aws_secret_access_key","line":1,"match":"wJa…EY"},{"rule":"generic_secret_assignment","line":2,"match":"hun…r2"}])");
}

TEST(SecretScan, PassesTemplatesAndPlaceholders) {
  for (auto line : {"password: {{ vault_pw }}", "password: $PASSWORD_X", "token=<your-token>",
                    "secret: vault_database_pw", "password: changeme", "password: ********",
                    "api_key: xxxxxxxxxx", "token: 1234567890", "password: short"})
    EXPECT_TRUE(scan_for_secrets("a.yml", line).empty()) << line;
  EXPECT_EQ(scan_for_secrets("a.yml", "password: placeholder\nsecret: really-a-secret1").size(), 1u);
}

TEST(SecretScan, LeavesFilesAloneThatAreNoText) {
  std::string hit = "password: hunter2hunter2\n";
  EXPECT_TRUE(scan_for_secrets("a.rpm", hit).empty());
  EXPECT_TRUE(scan_for_secrets("a.yml", "$ANSIBLE_VAULT;1.1;AES256\n" + hit).empty());
  EXPECT_TRUE(scan_for_secrets("a.yml", hit + std::string(1, '\0')).empty());
  EXPECT_TRUE(scan_for_secrets("a.yml", hit + "\xff\xff\n").empty());
  EXPECT_TRUE(scan_for_secrets("a.yml", "").empty());
  EXPECT_EQ(scan_for_secrets("A.YML", hit).size(), 1u);
}

TEST(SecretScan, IsNotDefeatedByACharacterThatThePartCuts) {
  EXPECT_EQ(scan_for_secrets("a.yml", "password: hunter2hunter2 \xe2\x82").size(), 1u);
}

TEST(SecretScan, AnswersABoundedListAndNeverTheValue) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "password: hunter2hunter2\n";
  auto found = scan_for_secrets("a.yml", text);
  EXPECT_EQ(found.size(), kMaxFindings);
  EXPECT_EQ(to_json(found).dump().find("hunter2hunter2"), std::string::npos);
  EXPECT_EQ(scan_for_secrets("a.yml", "password: hunter22").front().match, "****");
}

}  // namespace dash::storage
