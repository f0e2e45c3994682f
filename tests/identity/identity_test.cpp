#include <gtest/gtest.h>

#include "core/crypto/jwt.hpp"
#include "core/identity/directory.hpp"
#include "core/identity/sessions.hpp"
#include "core/identity/setup_code.hpp"
#include "core/identity/tokens.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/scratch.hpp"

namespace dash::identity {
namespace {

const Secret kPassword("correct horse");

class Identity : public testing::Test {
 protected:
  void add(std::string name, bool admin = false) { must(directory_.add({name, kPassword, admin, {}, {}})); }
  Scratch scratch_;
  FakeClock clock_;
  std::unique_ptr<db::Sql> sql_ = scratch_database(scratch_);
  Directory directory_{*sql_, clock_};
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
  for (auto refused : {directory_.set_active("alice", false), directory_.set_admin("alice", false)}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::conflict);
  }
  EXPECT_TRUE(directory_.find("alice").value()->is_admin);
}

TEST_F(Directory_, MakesTheWorkgroupsOfANewUser) {
  must(directory_.add({"Bob ", kPassword, false, {"change_windows:use"}, {"team-a", "team-b"}}));
  auto bob = directory_.find("BOB").value();
  ASSERT_TRUE(bob);
  EXPECT_EQ(bob->username, "bob");
  EXPECT_EQ(bob->workgroups, (std::vector<std::string>{"team-a", "team-b"}));
  EXPECT_EQ(bob->grants, (std::vector<std::string>{"change_windows:use"}));
}

TEST_F(Directory_, FoldsTheWorkgroupsOfANewUser) {
  must(directory_.add({"bob", kPassword, false, {}, {" Team-A"}}));
  EXPECT_EQ(directory_.find("bob").value()->workgroups, (std::vector<std::string>{"team-a"}));
}

TEST_F(Directory_, TakesAShortPasswordAndNoEmptyOne) {
  EXPECT_TRUE(directory_.add({"ann", Secret("pw-1"), false, {}, {}}));
  EXPECT_EQ(directory_.set_password("ann", Secret("")).error().code, Code::invalid);
}

TEST_F(Directory_, RefusesWhatIsNoPermission) {
  add("ann");
  for (auto wrong : {"", "admin", "jobs:", ":read", "jobs:read:all", "Jobs:read", "jobs: read"}) {
    EXPECT_EQ(directory_.add({"eve", kPassword, false, {wrong}, {}}).error().code, Code::invalid) << wrong;
    EXPECT_EQ(directory_.grant("ann", wrong).error().code, Code::invalid) << wrong;
  }
}

TEST_F(Directory_, RefusesBadNamesEmptyPasswordsAndDuplicates) {
  add("bob");
  EXPECT_EQ(directory_.add({"bob", kPassword, false, {}, {}}).error().code, Code::conflict);
  EXPECT_EQ(directory_.add({"a b", kPassword, false, {}, {}}).error().code, Code::invalid);
  EXPECT_EQ(directory_.add({"", kPassword, false, {}, {}}).error().code, Code::invalid);
  EXPECT_EQ(directory_.add({"eve", Secret(""), false, {}, {}}).error().code, Code::invalid);
  EXPECT_EQ(directory_.add({"eve", kPassword, false, {}, {"Bad Name"}}).error().code, Code::invalid);
  EXPECT_FALSE(directory_.find("eve").value());
}

TEST_F(Login_, GivesAJwtOfEightHoursForTheRightPassword) {
  add("alice", true);
  auto login = sessions_.login(" Alice", kPassword, "10.0.0.1").value();
  EXPECT_EQ(login.username, "alice");
  auto who = sessions_.authenticate(login.access_token).value();
  EXPECT_TRUE(who.is_admin);
  clock_.advance(std::chrono::minutes(479));
  EXPECT_TRUE(sessions_.authenticate(login.access_token));
  clock_.advance(std::chrono::minutes(2));
  EXPECT_FALSE(sessions_.authenticate(login.access_token));
}

TEST_F(Login_, AnswersAlikeForWrongPasswordsAndUnknownNames) {
  add("alice");
  auto wrong = sessions_.login("alice", Secret("not it, no"), "").error();
  auto unknown = sessions_.login("nobody", Secret("not it, no"), "").error();
  EXPECT_EQ(wrong.code, Code::unauthenticated);
  EXPECT_EQ(wrong.message, unknown.message);
}

TEST_F(Login_, IsThrottledAfterTenFailuresAlsoForNamesThatDoNotExist) {
  for (auto name : {"alice", "nobody"}) {
    for (int i = 0; i < 10; ++i)
      EXPECT_EQ(sessions_.login(name, Secret("wrong one"), "").error().code, Code::unauthenticated);
    auto error = sessions_.login(name, Secret("wrong one"), "").error();
    EXPECT_EQ(error.code, Code::throttled);
    EXPECT_EQ(error.retry_after, std::chrono::seconds(900));
  }
  clock_.advance(std::chrono::minutes(16));
  EXPECT_EQ(sessions_.login("alice", Secret("wrong one"), "").error().code, Code::unauthenticated);
}

TEST_F(Login_, EndsByLogoutANewPasswordAndDisabling) {
  add("root", true);
  add("bob");
  auto jwt = [&] { return sessions_.login("bob", kPassword, "").value().access_token; };
  auto one = jwt();
  ASSERT_TRUE(sessions_.logout(one));
  EXPECT_FALSE(sessions_.authenticate(one));
  auto two = jwt();
  ASSERT_TRUE(directory_.set_password("bob", Secret("another horse")));
  EXPECT_FALSE(sessions_.authenticate(two));
  ASSERT_TRUE(directory_.set_password("bob", kPassword));
  auto three = jwt();
  ASSERT_TRUE(directory_.set_active("bob", false));
  EXPECT_FALSE(sessions_.authenticate(three));
  EXPECT_EQ(sessions_.login("bob", kPassword, "").error().code, Code::forbidden);
}

TEST_F(Login_, RefusesForgedTokens) {
  add("alice", true);
  auto login = sessions_.login("alice", kPassword, "").value();
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
  auto forever = tokens_.issue("ci", "alice", 0).value();
  auto day = tokens_.issue("day", "alice", 1).value();
  EXPECT_TRUE(forever.token.expose().starts_with("dash_"));
  EXPECT_EQ(forever.token.expose().size(), 5u + 64u);
  EXPECT_EQ(tokens_.authenticate(day.token.expose()).value().via, Via::token);
  clock_.advance(std::chrono::hours(25));
  EXPECT_FALSE(tokens_.authenticate(day.token.expose()));
  EXPECT_TRUE(tokens_.authenticate(forever.token.expose()));
  EXPECT_EQ(tokens_.revoke(forever.info.id, "bob").error().code, Code::not_found);
  ASSERT_TRUE(tokens_.revoke(forever.info.id, "alice"));
  EXPECT_FALSE(tokens_.authenticate(forever.token.expose()));
  auto listed = tokens_.list("alice").value();
  for (const auto& token : listed) EXPECT_EQ(token.is_revoked, token.name == "ci");
}

TEST_F(Tokens_, AreNeverBornExpired) {
  add("alice");
  EXPECT_EQ(tokens_.issue("x", "alice", -1).error().code, Code::invalid);
  EXPECT_EQ(tokens_.issue("x", "nobody", 1).error().code, Code::not_found);
}

TEST_F(Identity, SetupCodeIsMadeOnceKeptPrivateAndAsked) {
  SetupCode code(scratch_.path());
  auto text = code.ensure().value();
  EXPECT_EQ(SetupCode(scratch_.path()).ensure().value().expose(), text.expose());
  auto perms = std::filesystem::status(code.path()).permissions();
  EXPECT_EQ(perms, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_TRUE(code.check(text));
  EXPECT_FALSE(code.check(Secret("guess")));
  code.forget();
  EXPECT_FALSE(code.check(text));
  EXPECT_FALSE(code.check(Secret("")));
}

}  // namespace
}  // namespace dash::identity
