// Logins, passwords and tokens over both databases: what their SQL promises.
#include <gtest/gtest.h>

#include "core/app/keys.hpp"
#include "core/identity/accounts.hpp"
#include "tests/contract/databases.hpp"
#include "tests/support/accounts.hpp"
#include "tests/support/fake_clock.hpp"

namespace dash::app {
namespace {

const Secret kPassword("correct horse");
const Secret kOther("another horse");

class AccountsContract : public testing::TestWithParam<std::string_view> {
 protected:
  AccountsContract() {
    for (auto name : {"root", "nora"})
      add_account(*sql_, directory_, {name, kPassword, name[0] == 'r', {}, {"team"}});
  }
  Result<identity::LoginResult> sign_in(const std::string& name, const std::string& address,
                                        const Secret& password = kPassword) {
    return accounts_.sign_in({name, password, address, "r1"});
  }
  Principal signed_in(const std::string& name) {
    return must(sessions_.authenticate(must(sign_in(name, "10.0.0.1")).access_token));
  }
  std::vector<std::string> actions() {
    std::vector<std::string> out;
    must(sql_->read([&](db::Transaction& tx) -> Result<void> {
      for (const auto& row : TRY(tx.query("SELECT action FROM audit_log ORDER BY seq")))
        out.push_back(row.text(0));
      return {};
    }));
    return out;
  }

  Scratch scratch_;
  FakeClock clock_;
  InstanceKeys keys_{Secret("a signing key of a test"), {}};
  std::unique_ptr<db::Sql> sql_ = contract_database(GetParam(), scratch_);
  audit::Log audit_{*sql_, clock_, keys_.derive("dashctl audit head v1")};
  identity::Directory directory_{*sql_, clock_};
  identity::Passwords passwords_{*sql_, clock_};
  identity::Sessions sessions_{*sql_, clock_, directory_, keys_.derive("dashctl session jwt v1")};
  identity::Tokens tokens_{*sql_, clock_, directory_};
  identity::SetupCode setup_code_{scratch_.path()};
  identity::Accounts accounts_{{*sql_, audit_, directory_, passwords_, sessions_, tokens_, setup_code_}};
};

TEST_P(AccountsContract, ResetsAPasswordRevokesTheTokensAndRecordsBoth) {
  auto root = signed_in("root"), nora = signed_in("nora");
  auto token = must(accounts_.issue_token(nora, {"ci", "nora", 7})).token;
  EXPECT_EQ(must(tokens_.authenticate(token.expose())).username, "nora");
  identity::UserChange change;
  change.password = kOther;
  change.grant = {"jobs:read"};
  EXPECT_EQ(must(accounts_.change(root, "nora", change)).grants, std::vector<std::string>{"jobs:read"});
  EXPECT_FALSE(tokens_.authenticate(token.expose()));
  EXPECT_EQ(accounts_.issue_token(nora, {"late", "nora", 0}).error().code, Code::unauthenticated);
  EXPECT_EQ(actions(), (std::vector<std::string>{"user.login", "user.login", "token.create", "tokens_revoked",
                                                 "user.update"}));
}

TEST_P(AccountsContract, SlowsStrangersOfAnAttackedAccountDownAndNotItsOwner) {
  ASSERT_TRUE(sign_in("nora", "10.0.0.1"));
  identity::LoginThrottle throttle(*sql_, clock_);
  must(sql_->write([&](db::Transaction& tx) -> Result<void> {
    for (int i = 0; i < 100; ++i) TRY(throttle.count(tx, {"nora", fmt::format("198.51.100.{}", i / 10)}));
    return {};
  }));
  EXPECT_EQ(sign_in("nora", "10.0.0.2", kOther).error().code, Code::unauthenticated);
  EXPECT_EQ(sign_in("nora", "10.0.0.2").error().code, Code::throttled);
  EXPECT_TRUE(sign_in("nora", "10.0.0.1"));
  EXPECT_TRUE(sign_in("root", "198.51.100.1"));
}

TEST_P(AccountsContract, RefusesNamesThatNoDatabaseKeeps) {
  EXPECT_EQ(sign_in(std::string("nora\0x", 6), "10.0.0.1").error().code, Code::unauthenticated);
  EXPECT_EQ(sign_in("nora\xff", "10.0.0.1").error().code, Code::unauthenticated);
  EXPECT_TRUE(sign_in("nora", "10.0.0.1"));
}

TEST_P(AccountsContract, KeepsAThousandAddressesOfAnAccount) {
  identity::LoginThrottle throttle(*sql_, clock_);
  must(sql_->write([&](db::Transaction& tx) -> Result<void> {
    for (int i = 0; i < 1'002; ++i) {
      clock_.advance(std::chrono::seconds(1));
      TRY(throttle.record_address(tx, {"nora", fmt::format("10.0.{}.{}", i / 256, i % 256)}));
    }
    auto rows = TRY(tx.query("SELECT COUNT(*), MIN(seen_at) FROM login_addresses WHERE username = 'nora'"));
    EXPECT_EQ(rows[0].integer(0), 1'000);
    EXPECT_EQ(rows[0].integer(1), to_micros(clock_.now() - std::chrono::seconds(999)));
    return {};
  }));
}

INSTANTIATE_TEST_SUITE_P(Engines, AccountsContract, testing::Values("sqlite", "postgres"),
                         [](const auto& engine) { return std::string(engine.param); });

}  // namespace
}  // namespace dash::app
