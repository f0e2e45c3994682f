#include "core/agent/remote/shares.hpp"

#include <gtest/gtest.h>

#include "tests/support/scratch.hpp"

namespace dash::agent {
namespace {

std::string error_of(std::string_view text) {
  auto read = read_shares(text, "s.yaml");
  return read ? "" : read.error().message;
}

TEST(Shares, ReadsFoldersAndUncPaths) {
  auto shares = must(read_shares(R"(shares:
  - {name: lab, path: /srv/lab/}
  - {name: office, path: '\\files\office', username: 'LAB\svc', password: "sealed:AAAA", port: 1445}
)",
                                 "s.yaml"));
  ASSERT_TRUE(shares.find("office"));
  EXPECT_EQ(shares.find("lab")->path, "/srv/lab");
  EXPECT_EQ(shares.find("office")->path, "\\\\files\\office");
  EXPECT_EQ(shares.find("office")->password.expose(), "sealed:AAAA");
  EXPECT_EQ(shares.find("office")->port, 1445);
  EXPECT_FALSE(shares.find("other"));
}

TEST(Shares, HoldsADashboardsPasswordForNamedAccountsOfServersOnly) {
  EXPECT_NE(error_of("shares: [{name: a, path: /srv, dashboard_secret: true}]").find("s.yaml:1:"),
            std::string::npos);
  EXPECT_NE(error_of("shares: [{name: a, path: '\\\\f\\s', dashboard_secret: true}]").find("username"),
            std::string::npos);
  EXPECT_NE(error_of("shares: [{name: a, path: '\\\\f\\s', username: u, dashboard_secret: 'true'}]")
                .find("unquoted"),
            std::string::npos);
  auto shares = must(read_shares(
      "shares: [{name: a, path: '\\\\f\\s', username: u, password: local, dashboard_secret: true}]",
      "s.yaml"));
  EXPECT_TRUE(shares.find("a")->has_dashboard_secret);
  EXPECT_TRUE(shares.find("a")->password.empty());
  ASSERT_EQ(shares.warnings.size(), 1u);
  EXPECT_EQ(shares.warnings[0].find("local is"), std::string::npos);
}

TEST(Shares, RefusesWhatCouldBeMeantOtherwise) {
  EXPECT_NE(error_of("shares: [{name: a}]").find("no 'path'"), std::string::npos);
  EXPECT_NE(error_of("shares: [{name: a, path: srv}]").find("absolute"), std::string::npos);
  EXPECT_NE(error_of("shares: [{name: 'a b', path: /srv}]").find("'a b'"), std::string::npos);
  EXPECT_NE(error_of("shares: [{name: a, path: /x}, {name: a, path: /y}]").find("twice"), std::string::npos);
  EXPECT_NE(error_of("shares: [{name: a, path: /x, writable: true}]").find("writable"), std::string::npos);
  EXPECT_NE(error_of("shares: [{name: a, path: '//etc'}]").find("no share"), std::string::npos);
  EXPECT_FALSE(error_of("").empty());
}

TEST(Shares, AreNoneWithoutTheirFile) {
  Scratch scratch;
  EXPECT_TRUE(must(load_shares(scratch / "shares.yaml")).shares.empty());
}

}  // namespace
}  // namespace dash::agent
