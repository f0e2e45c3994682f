#include "core/identity/accounts.hpp"

#include <gtest/gtest.h>

#include <map>

#include "core/app/keys.hpp"
#include "tests/support/accounts.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/faulty_sql.hpp"
#include "tests/support/scratch.hpp"

namespace dash::identity {
namespace {

const Secret kPassword("correct horse");
const Secret kOther("another horse");

class AccountsTest : public testing::Test {
 protected:
  AccountsTest() {
    for (auto name : {"root", "nora"})
      add_account(*real_, directory_, {name, kPassword, name[0] == 'r', {}, {}});
    root_ = signed_in("root");
    nora_ = signed_in("nora");
  }
  Principal signed_in(const std::string& name, const Secret& password = kPassword) {
    auto login = must(accounts_.sign_in({name, password, "10.0.0.1", "r1"}));
    auto principal = must(sessions_.authenticate(login.access_token));
    principal.address = "10.0.0.1";
    return principal;
  }
  Principal by_token(const std::string& name) {
    auto issued = must(accounts_.issue_token(local_operator(), {"ci", name, 0}));
    return must(tokens_.authenticate(issued.token.expose()));
  }
  // All that a change of an account may touch, row by row; the audit log apart.
  std::string state() {
    std::string out;
    must(real_->read([&](db::Transaction& tx) -> Result<void> {
      for (auto table : {"users", "grants", "workgroups", "workgroup_members", "sessions", "tokens",
                         "login_failures", "login_addresses"})
        for (const auto& row : TRY(tx.query(columns_of(table)))) out += row.text(0) + "\n";
      return {};
    }));
    return out;
  }
  std::int64_t entries() {
    return must(db::read<std::int64_t>(*real_, [](db::Transaction& tx) -> Result<std::int64_t> {
      return TRY(tx.query("SELECT COUNT(*) FROM audit_log"))[0].integer(0);
    }));
  }

  // `flow` with its n-th statement failing, for each n: nothing changed, or all of it and `recorded` entries.
  void fails_whole(std::int64_t recorded, const std::function<bool()>& flow) {
    int n = 1;
    for (;; ++n) {
      auto before = state();
      auto count = entries();
      sql_.fail_at(n);
      bool is_done = flow();
      bool has_failed = sql_.has_failed();
      sql_.heal();
      if (!has_failed) {
        EXPECT_TRUE(is_done);
        break;
      }
      EXPECT_FALSE(is_done) << n;
      if (entries() == count)
        EXPECT_EQ(state(), before) << n;
      else
        EXPECT_TRUE(entries() == count + recorded && state() != before) << n;
      if (entries() != count) break;  // the answer to the commit was lost; it cannot be done twice
    }
    EXPECT_GT(n, 3);
  }

  Scratch scratch_;
  FakeClock clock_;
  app::InstanceKeys keys_{Secret("a signing key of a test"), {}};
  std::unique_ptr<db::Sql> real_ = scratch_database(scratch_);
  FaultySql sql_{*real_};
  audit::Log audit_{sql_, clock_, keys_.derive("dashctl audit head v1")};
  identity::Directory directory_{sql_, clock_};
  identity::Passwords passwords_{sql_, clock_};
  identity::Sessions sessions_{sql_, clock_, directory_, keys_.derive("dashctl session jwt v1")};
  identity::Tokens tokens_{sql_, clock_, directory_};
  identity::SetupCode setup_code_{scratch_.path()};
  Accounts accounts_{{sql_, audit_, directory_, passwords_, sessions_, tokens_, setup_code_}};
  Principal root_, nora_;

 private:
  static std::string columns_of(std::string_view table) {
    static const std::map<std::string_view, std::string_view> kColumns{
        {"users", "username || password_hash || is_admin || is_active"},
        {"grants", "username || permission"},
        {"workgroups", "name"},
        {"workgroup_members", "workgroup || username"},
        {"sessions", "id || username"},
        {"tokens", "id || COALESCE(revoked_at, '')"},
        {"login_failures", "username || address || at"},
        {"login_addresses", "username || address || seen_at"}};
    return fmt::format("SELECT '{}: ' || {} FROM {} ORDER BY 1", table, kColumns.at(table), table);
  }
};

TEST_F(AccountsTest, AddAUserWholeOrNotAtAll) {
  fails_whole(1, [&] {
    return accounts_.add(root_, {"eve", kPassword, true, {"jobs:read"}, {"team-a", "team-b"}}).has_value();
  });
  EXPECT_TRUE(must(directory_.find("eve"))->is_admin);
}

TEST_F(AccountsTest, ChangeAUserWholeOrNotAtAll) {
  must(accounts_.issue_token(nora_, {"ci", "nora", 0}));
  UserChange change;
  change.password = kOther;
  change.is_admin = true;
  change.is_active = true;
  change.grant = {"jobs:read", "jobs:write"};
  change.ungrant = {"jobs:write"};
  fails_whole(2, [&] { return accounts_.change(root_, "nora", change).has_value(); });
  auto nora = must(directory_.find("nora"));
  EXPECT_EQ(nora->grants, std::vector<std::string>{"jobs:read"});
  EXPECT_TRUE(must(tokens_.list("nora")).at(0).is_revoked);
  EXPECT_TRUE(accounts_.sign_in({"nora", kOther, "10.0.0.1", ""}));
}

TEST_F(AccountsTest, DisableAUserWholeOrNotAtAll) {
  must(accounts_.issue_token(nora_, {"ci", "nora", 0}));
  UserChange change;
  change.is_active = false;
  fails_whole(2, [&] { return accounts_.change(root_, "nora", change).has_value(); });
}

TEST_F(AccountsTest, ChangeOnesOwnPasswordWholeOrNotAtAll) {
  UserChange change;
  change.password = kOther;
  change.current_password = kPassword;
  fails_whole(1, [&] { return accounts_.change(nora_, "nora", change).has_value(); });
}

TEST_F(AccountsTest, CountAWrongCurrentPasswordWithItsEntryOrNotAtAll) {
  UserChange change;
  change.password = kOther;
  change.current_password = Secret("not it at all");
  fails_whole(1, [&] {
    auto changed = accounts_.change(nora_, "nora", change);
    return !changed && changed.error().code == Code::forbidden;
  });
  EXPECT_TRUE(accounts_.sign_in({"nora", kPassword, "10.0.0.1", ""}));
}

TEST_F(AccountsTest, IssueATokenWholeOrNotAtAll) {
  fails_whole(1, [&] { return accounts_.issue_token(nora_, {"ci", "nora", 1}).has_value(); });
}

TEST_F(AccountsTest, RevokeATokenWholeOrNotAtAll) {
  auto id = must(accounts_.issue_token(nora_, {"ci", "nora", 0})).info.id;
  fails_whole(1, [&] { return accounts_.revoke_token(nora_, id).has_value(); });
  EXPECT_TRUE(must(tokens_.list("nora")).at(0).is_revoked);
}

TEST_F(AccountsTest, SignInWholeOrNotAtAll) {
  fails_whole(1, [&] { return accounts_.sign_in({"nora", kPassword, "10.0.0.2", ""}).has_value(); });
}

TEST_F(AccountsTest, CountAFailedLoginWithItsEntryOrNotAtAll) {
  fails_whole(1, [&] {
    auto login = accounts_.sign_in({"nora", kOther, "10.0.0.2", ""});
    return !login && login.error().code == Code::unauthenticated;
  });
}

TEST_F(AccountsTest, CheckEveryMemberBeforeTheFirstChange) {
  UserChange change;
  change.password = kOther;
  change.is_admin = true;
  change.grant = {"Bad Perm!"};
  auto before = state();
  auto count = entries();
  EXPECT_EQ(accounts_.change(root_, "nora", change).error().code, Code::invalid);
  EXPECT_EQ(accounts_.add(root_, {"eve", kPassword, false, {}, {"new-team", "Bad Name"}}).error().code,
            Code::invalid);
  EXPECT_EQ(state(), before);
  EXPECT_EQ(entries(), count);
}

// What another committed while a request was under way.
TEST_F(AccountsTest, EndWhatWasUnderWayWhenItsSessionEnds) {
  UserChange reset;
  reset.password = kOther;
  must(accounts_.change(root_, "nora", reset));
  EXPECT_EQ(accounts_.issue_token(nora_, {"late", "nora", 0}).error().code, Code::unauthenticated);
  UserChange own = reset;
  own.current_password = kOther;
  EXPECT_EQ(accounts_.change(nora_, "nora", own).error().code, Code::unauthenticated);

  must(accounts_.add(root_, {"second", kPassword, true, {}, {}}));
  auto second = signed_in("second");
  UserChange demotion;
  demotion.is_admin = false;
  must(accounts_.change(root_, "second", demotion));
  EXPECT_EQ(accounts_.add(second, {"eve", kPassword, true, {}, {}}).error().code, Code::unauthenticated);
  EXPECT_FALSE(must(directory_.find("eve")));
}

TEST_F(AccountsTest, RefuseALoginWhosePasswordWasResetMeanwhile) {
  auto attempt = must(passwords_.verify("nora", kPassword, "10.0.0.2"));
  UserChange reset;
  reset.password = kOther;
  must(accounts_.change(root_, "nora", reset));
  must(sql_.write([&](db::Transaction& tx) -> Result<void> {
    EXPECT_EQ(TRY(passwords_.conclude(tx, attempt))->code, Code::unauthenticated);
    return {};
  }));
}

TEST_F(AccountsTest, TakeChangesFromASignInOnly) {
  auto token = by_token("root");
  auto second = by_token("root");
  UserChange change;
  change.grant = {"jobs:read"};
  for (const auto& refused :
       {accounts_.add(token, {"eve", kPassword, false, {}, {}}), accounts_.change(token, "nora", change),
        accounts_.change(token, "root", change)}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::forbidden);
    EXPECT_NE(refused.error().message.find("sign in"), std::string::npos);
  }
  EXPECT_EQ(accounts_.issue_token(token, {"more", "root", 0}).error().code, Code::forbidden);
  EXPECT_EQ(accounts_.revoke_token(token, second.credential_id).error().code, Code::forbidden);
  EXPECT_TRUE(accounts_.list(token) && accounts_.list_tokens(token, "root"));
  EXPECT_TRUE(accounts_.revoke_token(token, token.credential_id));
  EXPECT_TRUE(accounts_.revoke_token(root_, second.credential_id));
}

TEST_F(AccountsTest, LetTheOperatorChangeAnAccountOfHisOwnName) {
  must(accounts_.add(root_, {"local", kPassword, true, {}, {}}));
  UserChange change;
  change.password = kOther;
  change.is_admin = false;
  EXPECT_FALSE(must(accounts_.change(local_operator(), "local", change)).is_admin);
}

TEST_F(AccountsTest, RefuseATokenForADisabledAccountAndANameThatCannotBeShown) {
  UserChange change;
  change.is_active = false;
  must(accounts_.change(root_, "nora", change));
  EXPECT_EQ(accounts_.issue_token(root_, {"ci", "nora", 0}).error().code, Code::conflict);
  EXPECT_EQ(accounts_.issue_token(root_, {std::string("a\0b", 3), "root", 0}).error().code, Code::invalid);
}

TEST_F(AccountsTest, AnswerReadsByTokenWhileTheDatabaseTakesNoWrites) {
  auto issued = must(accounts_.issue_token(nora_, {"ci", "nora", 0}));
  sql_.fail_at(1);
  EXPECT_EQ(must(tokens_.authenticate(issued.token.expose())).username, "nora");
  EXPECT_TRUE(sql_.has_failed());
}

}  // namespace
}  // namespace dash::identity
