#include <gtest/gtest.h>

#include "core/crypto/jwt.hpp"
#include "core/identity/directory.hpp"
#include "core/identity/sessions.hpp"
#include "core/identity/setup_code.hpp"
#include "core/identity/tokens.hpp"
#include "tests/support/accounts.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/scratch.hpp"

namespace dash::identity {
namespace {

const Secret kPassword("correct horse");
constexpr std::chrono::hours kYear{365 * 24};

class Identity : public testing::Test {
 protected:
  void add(std::string name, bool admin = false) {
    add_account(*sql_, directory_, {std::move(name), kPassword, admin, {}, {}});
  }
  Result<void> in_write(const db::TransactionFn& body) { return sql_->write(body); }
  Result<void> try_add(const NewUser& user) {
    return in_write([&](db::Transaction& tx) { return directory_.add(tx, user, "a hash"); });
  }
  Result<LoginResult> login(const std::string& name, const Secret& password,
                            const std::string& address = "") {
    return log_in(*sql_, passwords_, sessions_, name, password, address);
  }
  Result<IssuedToken> issue(const NewToken& wanted) {
    return db::write<IssuedToken>(*sql_, [&](db::Transaction& tx) { return tokens_.issue(tx, wanted); });
  }
  Scratch scratch_;
  FakeClock clock_;
  std::unique_ptr<db::Sql> sql_ = scratch_database(scratch_);
  Directory directory_{*sql_, clock_};
  Passwords passwords_{*sql_, clock_};
  Secret key_{std::string(32, 'k')};
  Sessions sessions_{*sql_, clock_, directory_, key_};
  Tokens tokens_{*sql_, clock_, directory_};
};

using Login_ = Identity;
using Directory_ = Identity;
using Tokens_ = Identity;

TEST_F(Directory_, IsSetUpWithItsFirstActiveAdmin) {
  EXPECT_FALSE(directory_.is_set_up().value());
  add("bob");
  EXPECT_FALSE(directory_.is_set_up().value());
  add("alice", true);
  EXPECT_TRUE(directory_.is_set_up().value());
}

TEST_F(Directory_, KeepsItsLastAdmin) {
  add("alice", true);
  auto disable = [&](db::Transaction& tx) { return directory_.set_active(tx, "alice", false); };
  auto demote = [&](db::Transaction& tx) { return directory_.set_admin(tx, "alice", false); };
  for (const db::TransactionFn& change : {db::TransactionFn(disable), db::TransactionFn(demote)}) {
    auto refused = in_write(change);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::conflict);
  }
  EXPECT_TRUE(directory_.find("alice").value()->is_admin);
  add("second", true);
  EXPECT_TRUE(in_write(demote));
}

TEST_F(Directory_, DisablesAUserBeforeThereIsAnAdmin) {
  add("bob");
  EXPECT_TRUE(in_write([&](db::Transaction& tx) { return directory_.set_active(tx, "bob", false); }));
}

TEST_F(Directory_, MakesTheWorkgroupsOfANewUser) {
  must(try_add({"Bob ", kPassword, false, {"change_windows:use"}, {"team-a", "team-b"}}));
  auto bob = directory_.find("BOB").value();
  ASSERT_TRUE(bob);
  EXPECT_EQ(bob->username, "bob");
  EXPECT_EQ(bob->workgroups, (std::vector<std::string>{"team-a", "team-b"}));
  EXPECT_EQ(bob->grants, (std::vector<std::string>{"change_windows:use"}));
}

TEST_F(Directory_, FoldsTheWorkgroupsOfANewUser) {
  must(try_add({"bob", kPassword, false, {}, {" Team-A"}}));
  EXPECT_EQ(directory_.find("bob").value()->workgroups, (std::vector<std::string>{"team-a"}));
}

TEST_F(Directory_, WantsEightCharactersOfANewPassword) {
  for (auto shorter : {"", "1234567", "\u00e4\u00f6\u00fc\u00df\u00e4\u00f6\u00fc"})
    EXPECT_EQ(try_add({"ann", Secret(shorter), false, {}, {}}).error().code, Code::invalid) << shorter;
  EXPECT_TRUE(try_add({"ann", Secret("12345678"), false, {}, {}}));
  EXPECT_TRUE(check_password(Secret("\u00e4\u00f6\u00fc\u00df\u00e4\u00f6\u00fc\u00df")));
}

TEST_F(Directory_, RefusesWhatIsNoPermission) {
  add("ann");
  for (auto wrong : {"", "admin", "jobs:", ":read", "jobs:read:all", "Jobs:read", "jobs: read"}) {
    EXPECT_EQ(try_add({"eve", kPassword, false, {wrong}, {}}).error().code, Code::invalid) << wrong;
    auto granted = in_write([&](db::Transaction& tx) { return directory_.grant(tx, "ann", wrong); });
    EXPECT_EQ(granted.error().code, Code::invalid) << wrong;
  }
}

TEST_F(Directory_, RefusesBadNamesAndDuplicates) {
  add("bob");
  EXPECT_EQ(try_add({"bob", kPassword, false, {}, {}}).error().code, Code::conflict);
  for (auto wrong : {"", "a b", "caf\u00e9", "a/b", "a:b", "a\u202eb", "a*b"})
    EXPECT_EQ(try_add({wrong, kPassword, false, {}, {}}).error().code, Code::invalid) << wrong;
  EXPECT_EQ(try_add({std::string(101, 'a'), kPassword, false, {}, {}}).error().code, Code::invalid);
  EXPECT_EQ(try_add({"eve", kPassword, false, {}, {"Bad Name"}}).error().code, Code::invalid);
  EXPECT_FALSE(directory_.find("eve").value());
  for (const auto& right : {std::string("a"), std::string(100, 'a'), std::string("A.b_c@d+e-1")})
    EXPECT_TRUE(try_add({right, kPassword, false, {}, {}})) << right;
}

// Made before names were plain ASCII and passwords had a least length.
TEST_F(Directory_, KeepsAccountsOfBefore) {
  must(in_write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec(R"(INSERT INTO users (username, password_hash, is_admin, is_active, created_at)
                   VALUES ($1, $2, 1, 1, 0))",
                {"jos\u00e9:ops", crypto::hash_password(Secret("pw"))}));
    return {};
  }));
  EXPECT_TRUE(login("Jos\u00e9:ops", Secret("pw")));
  EXPECT_TRUE(issue({"ci", "jos\u00e9:ops", 0}));
}

TEST_F(Login_, GivesAJwtOfEightHoursForTheRightPassword) {
  add("alice", true);
  auto login = this->login(" Alice", kPassword, "10.0.0.1").value();
  EXPECT_EQ(login.username, "alice");
  auto principal = sessions_.authenticate(login.access_token).value();
  EXPECT_TRUE(principal.is_admin);
  clock_.advance(std::chrono::minutes(479));
  EXPECT_TRUE(sessions_.authenticate(login.access_token));
  clock_.advance(std::chrono::minutes(2));
  EXPECT_FALSE(sessions_.authenticate(login.access_token));
}

TEST_F(Login_, AnswersAlikeForWrongPasswordsAndUnknownNames) {
  add("alice");
  auto wrong = login("alice", Secret("not it, no")).error();
  auto unknown = login("nobody", Secret("not it, no")).error();
  EXPECT_EQ(wrong.code, Code::unauthenticated);
  EXPECT_EQ(wrong.message, unknown.message);
}

TEST_F(Login_, EndsByLogoutANewPasswordAndDisabling) {
  add("root", true);
  add("bob");
  auto jwt = [&] { return login("bob", kPassword).value().access_token; };
  auto one = jwt();
  ASSERT_TRUE(sessions_.logout(one));
  EXPECT_FALSE(sessions_.authenticate(one));
  auto two = jwt();
  must(in_write([&](db::Transaction& tx) {
    return directory_.set_password(tx, "bob", crypto::hash_password(kPassword));
  }));
  EXPECT_FALSE(sessions_.authenticate(two));
  auto three = jwt();
  must(in_write([&](db::Transaction& tx) { return directory_.set_active(tx, "bob", false); }));
  EXPECT_FALSE(sessions_.authenticate(three));
  EXPECT_EQ(login("bob", kPassword).error().code, Code::forbidden);
}

TEST_F(Login_, RefusesForgedTokens) {
  add("alice", true);
  auto login = this->login("alice", kPassword).value();
  auto exp = to_micros(clock_.now()) / 1'000'000 + 1000;
  OrderedJson claims{{"sub", "alice"}, {"exp", exp}, {"type", "access"}, {"sid", "made up"}};
  EXPECT_FALSE(sessions_.authenticate(crypto::sign_jwt(key_, claims)));
  EXPECT_FALSE(sessions_.authenticate(crypto::sign_jwt(Secret("other"), claims)));
  claims["type"] = "pre_auth";
  EXPECT_FALSE(sessions_.authenticate(crypto::sign_jwt(key_, claims)));
  EXPECT_FALSE(sessions_.authenticate(login.access_token + "A"));
  EXPECT_FALSE(sessions_.authenticate("eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSJ9."));
}

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

// The clock was a year ahead and was put right, or was right and is a year ahead.
TEST_F(Login_, OfAClockThatWasAYearAheadHasExpired) {
  add("alice", true);
  auto before = login("alice", kPassword).value().access_token;
  clock_.advance(kYear);
  EXPECT_FALSE(sessions_.authenticate(before));
  auto ahead = login("alice", kPassword).value().access_token;
  EXPECT_TRUE(sessions_.authenticate(ahead));
  clock_.advance(-kYear);
  EXPECT_FALSE(sessions_.authenticate(ahead));
  auto now = login("alice", kPassword).value().access_token;
  EXPECT_TRUE(sessions_.authenticate(now));
  clock_.advance(-std::chrono::minutes(5));
  EXPECT_TRUE(sessions_.authenticate(now));
  clock_.advance(-std::chrono::seconds(1));
  EXPECT_FALSE(sessions_.authenticate(now));
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

TEST_F(Identity, SetupCodeIsMadeOnceKeptPrivateAndAsked) {
  SetupCode code(scratch_.path());
  auto text = code.ensure().value();
  EXPECT_EQ(SetupCode(scratch_.path()).ensure().value().expose(), text.expose());
  auto perms = std::filesystem::status(code.path()).permissions();
  EXPECT_EQ(perms, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_TRUE(code.check(text));
  EXPECT_FALSE(code.check(Secret("guess")));
  code.remove();
  EXPECT_FALSE(code.check(text));
  EXPECT_FALSE(code.check(Secret("")));
}

}  // namespace
}  // namespace dash::identity
