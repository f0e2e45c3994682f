#include "core/config/masking.hpp"

#include <gtest/gtest.h>

#include "core/base/redact.hpp"
#include "core/config/registry.hpp"
#include "tests/support/captured_log.hpp"

namespace dash::config {

TEST(Masking, KnowsUnknownSecretsByTheEndOfTheirName) {
  for (auto ending :
       {"_secret_key", "_access_key", "_account_key", "_client_key", "_credential", "_credentials",
        "_connection_string", "_dsn", "_pem", "_pwd", "_passwd", "_password", "_token"}) {
    EXPECT_TRUE(is_secret(std::string("acme") + ending)) << ending;
    EXPECT_TRUE(is_secret(std::string("cloud4_region.r.acme") + ending)) << ending;
  }
  for (auto key : {"acme_key_name", "acme_dsn_host", "acme_permanent", "cloud1_region.r.vpc_id"})
    EXPECT_FALSE(is_secret(key)) << key;
}

TEST(Masking, TakesTheRegistrysWordBeforeTheName) {
  for (const auto& info : registered_keys()) {
    if (info.key.find_first_of("*<") == std::string::npos) {
      EXPECT_EQ(is_secret(info.key), info.is_secret) << info.key;
    }
  }
}

TEST(Masking, MasksAValueWithUserinfoWhateverItsKeyIs) {
  EXPECT_EQ(masked_value("app_url", "https://u:p@h/x"), kMask);
  EXPECT_EQ(masked_value("unknown", "postgres://u:p@h/db"), kMask);
  EXPECT_EQ(masked_value("app_url", "https://h/x"), "https://h/x");
  EXPECT_EQ(masked_value("unknown_secret", "aws_sm://vault/name"), "aws_sm://vault/name");
  EXPECT_EQ(audited_value("app_url", "https://u:p@h/x"), "https://***@h/x");
}

TEST(Masking, FindsUserinfoInUrlsAndSourceNames) {
  auto cases = std::map<std::string, std::string>{
      {"https://u:p@h/x", "https://***@h/x"},
      {"https://token@h", "https://***@h"},
      {"jdbc:postgresql://u:p@h/db", "jdbc:postgresql://***@h/db"},
      {"a https://u:p@h b redis://:pw@r:6379/0", "a https://***@h b redis://***@r:6379/0"},
      {"u:p@tcp(h:3306)/db", "***@tcp(h:3306)/db"},
      {"https://u:p/q@h/x", "https://***@h/x"},
      {"host=h user=u password=p dbname=d", "host=h user=u password=*** dbname=d"},
      {"Server=s;Uid=u;Pwd=p;", "Server=s;Uid=u;Pwd=***;"},
      {"jdbc:mysql://h/db?user=u&password=p", "jdbc:mysql://h/db?user=u&password=***"},
  };
  for (const auto& [text, shown] : cases) {
    EXPECT_TRUE(has_userinfo(text)) << text;
    EXPECT_EQ(without_userinfo(text), shown);
    EXPECT_EQ(without_userinfo(shown), shown);
  }
}

TEST(Masking, LeavesWhatHoldsNone) {
  for (auto text : {"", "@", "ops@example.com", "https://h/path@x", "https://h:8080/a@b",
                    "http://[::1]:80/a@b", "git@github.com:org/repo.git", "mailto:ops@example.com", "a=b",
                    "password=p", "://@", "https://h?email=a@b.c", "C:\\x@y"}) {
    EXPECT_FALSE(has_userinfo(text)) << text;
    EXPECT_EQ(without_userinfo(text), text);
  }
}

TEST(Masking, KeepsUserinfoOutOfTheLog) {
  CapturedLog log;
  log::warning("test.masking", {{"url", "https://u:topsecret@h/x"}});
  EXPECT_EQ(log.count("topsecret"), 0u);
  EXPECT_EQ(log.count("https://***@h/x"), 1u);
}

}  // namespace dash::config
