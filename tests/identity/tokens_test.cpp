#include "core/identity/tokens.hpp"

#include <gtest/gtest.h>

#include "tests/support/identity_fixture.hpp"

namespace dash::identity {
namespace {

using Tokens_ = Identity;

TEST_F(Tokens_, WorkUntilRevokedOrExpired) {
  add("alice", true);
  auto forever = issue({"ci", "alice", 0}).value();
  auto day = issue({"day", "alice", 1}).value();
  EXPECT_TRUE(forever.token.expose().starts_with("dash_"));
  EXPECT_EQ(forever.token.expose().size(), 5u + 64u);
  EXPECT_EQ(tokens_.authenticate(day.token.expose()).value().via, Via::token);
  clock_.advance(std::chrono::hours(25));
  EXPECT_FALSE(tokens_.authenticate(day.token.expose()));
  EXPECT_TRUE(tokens_.authenticate(forever.token.expose()));
  auto revoke = [&](const std::string& owner) {
    return in_write([&](db::Transaction& tx) { return tokens_.revoke(tx, forever.info.id, owner); });
  };
  EXPECT_EQ(revoke("bob").error().code, Code::not_found);
  ASSERT_TRUE(revoke("alice"));
  EXPECT_FALSE(tokens_.authenticate(forever.token.expose()));
  auto listed = tokens_.list("alice").value();
  for (const auto& token : listed) EXPECT_EQ(token.is_revoked, token.name == "ci");
}

TEST_F(Tokens_, AreNeverBornExpired) {
  add("alice");
  EXPECT_EQ(issue({"x", "alice", -1}).error().code, Code::invalid);
  EXPECT_EQ(issue({"x", "nobody", 1}).error().code, Code::not_found);
}

TEST_F(Tokens_, WithAnEndOfAClockThatWasAYearAheadHaveExpired) {
  add("alice", true);
  clock_.advance(kYear);
  auto day = issue({"day", "alice", 1}).value(), forever = issue({"ci", "alice", 0}).value();
  EXPECT_TRUE(tokens_.authenticate(day.token.expose()) && tokens_.authenticate(forever.token.expose()));
  clock_.advance(-kYear);
  EXPECT_EQ(tokens_.authenticate(day.token.expose()).error().message, "Token expired");
  EXPECT_TRUE(tokens_.authenticate(forever.token.expose()));
  EXPECT_LE(*tokens_.list("alice").value().at(0).last_used_at - std::chrono::hours(24 * 366), clock_.now());
}

}  // namespace
}  // namespace dash::identity
