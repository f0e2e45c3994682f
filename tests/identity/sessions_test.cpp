#include "core/identity/sessions.hpp"

#include <gtest/gtest.h>

#include "core/crypto/jwt.hpp"
#include "tests/support/identity_fixture.hpp"

namespace dash::identity {
namespace {

using Login_ = Identity;

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

}  // namespace
}  // namespace dash::identity
