#include "core/identity/login_throttle.hpp"

#include <gtest/gtest.h>

#include "core/identity/throttle.hpp"
#include "tests/support/accounts.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/scratch.hpp"

namespace dash::identity {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
const Secret kPassword("correct horse");
const Secret kWrong("wrong horse");
constexpr hours kYear{365 * 24};

class LoginThrottleTest : public testing::Test {
 protected:
  LoginThrottleTest() { add_account(*sql_, directory_, {"nora", kPassword, false, {}, {}}); }
  void fail(const std::string& name, const std::string& address, int times) {
    must(sql_->write([&](db::Transaction& tx) -> Result<void> {
      for (int i = 0; i < times; ++i) TRY(throttle_.count(tx, {name, throttle_network(address)}));
      return {};
    }));
  }
  // 100 failures of nora, 10 at each of ten addresses.
  void attack() {
    for (int i = 0; i < 10; ++i) fail("nora", fmt::format("198.51.100.{}", i), 10);
  }
  Result<LoginResult> login(const std::string& name, const std::string& address,
                            const Secret& password = kPassword) {
    return log_in(*sql_, passwords_, sessions_, name, password, address);
  }
  Code code(const Result<LoginResult>& login) { return login ? Code::internal : login.error().code; }

  Scratch scratch_;
  FakeClock clock_;
  std::unique_ptr<db::Sql> sql_ = scratch_database(scratch_);
  Directory directory_{*sql_, clock_};
  Passwords passwords_{*sql_, clock_};
  Sessions sessions_{*sql_, clock_, directory_, Secret(std::string(32, 'k'))};
  LoginThrottle throttle_{*sql_, clock_};
};

TEST_F(LoginThrottleTest, StopsAnAccountAtOneAddressAfterTenFailuresAlsoForNamesThatDoNotExist) {
  for (auto name : {"nora", "nobody"}) {
    for (int i = 0; i < 10; ++i) EXPECT_EQ(code(login(name, "10.0.0.1", kWrong)), Code::unauthenticated);
    auto stopped = login(name, "10.0.0.1");
    EXPECT_EQ(code(stopped), Code::throttled);
    EXPECT_EQ(stopped.error().retry_after, seconds(900));
  }
  EXPECT_TRUE(login("nora", "10.0.0.2"));  // an attacker elsewhere cannot lock the owner out
  clock_.advance(minutes(16));
  EXPECT_TRUE(login("nora", "10.0.0.1"));
}

TEST_F(LoginThrottleTest, StopsAnAddressAfterFiftyFailuresOfWhomever) {
  for (int i = 0; i < 5; ++i) fail(fmt::format("name-{}", i), "10.0.0.1", 10);
  EXPECT_EQ(code(login("nora", "10.0.0.1")), Code::throttled);
  EXPECT_TRUE(login("nora", "10.0.0.2"));
}

TEST_F(LoginThrottleTest, ForgetsTheFailuresOfAnAccountAtAnAddressWhereItSignsIn) {
  fail("nora", "10.0.0.1", 9);
  fail("root", "10.0.0.1", 9);
  EXPECT_TRUE(login("nora", "10.0.0.1"));
  fail("nora", "10.0.0.1", 9);
  EXPECT_TRUE(login("nora", "10.0.0.1"));
  fail("root", "10.0.0.1", 1);
  EXPECT_EQ(code(login("root", "10.0.0.1")), Code::throttled);
}

TEST_F(LoginThrottleTest, LetsStrangersOfAnAttackedAccountTryOnceASecond) {
  attack();
  EXPECT_EQ(code(login("nora", "10.0.0.1", kWrong)), Code::unauthenticated);
  auto second = login("nora", "10.0.0.2");
  EXPECT_EQ(code(second), Code::throttled);
  EXPECT_EQ(second.error().retry_after, seconds(1));
  clock_.advance(seconds(1));
  EXPECT_TRUE(login("nora", "10.0.0.2"));
  EXPECT_EQ(code(login("nora", "10.0.0.3")), Code::throttled);
}

TEST_F(LoginThrottleTest, ExemptsAddressesAtWhichTheAccountSignedInWithinThirtyDays) {
  ASSERT_TRUE(login("nora", "10.0.0.1"));
  ASSERT_TRUE(login("nora", "2001:db8:1:2::3"));
  clock_.advance(hours(29 * 24));
  attack();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(login("nora", "10.0.0.1"));
    EXPECT_TRUE(login("nora", "2001:db8:1:2:ffff::9"));  // the same /64
  }
  clock_.advance(hours(31 * 24));
  attack();
  EXPECT_TRUE(login("nora", "10.0.0.1"));  // the second's one
  EXPECT_EQ(code(login("nora", "10.0.0.2")), Code::throttled);
}

TEST_F(LoginThrottleTest, DoesNotSpareAnExemptAddressItsOwnTenFailures) {
  ASSERT_TRUE(login("nora", "10.0.0.1"));
  fail("nora", "10.0.0.1", 10);
  EXPECT_EQ(code(login("nora", "10.0.0.1")), Code::throttled);
}

TEST_F(LoginThrottleTest, CountsAnIpv6NetworkAsOneAddress) {
  for (int i = 0; i < 10; ++i) fail("nora", fmt::format("2001:db8::{:x}", i), 1);
  EXPECT_EQ(code(login("nora", "2001:db8::ffff")), Code::throttled);
  EXPECT_TRUE(login("nora", "2001:db8:0:1::1"));
  EXPECT_EQ(throttle_network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(throttle_network("10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(throttle_network("unix"), "unix");
}

TEST_F(LoginThrottleTest, RefusesTheRightPasswordOnceParallelTriesHaveUsedTheLimitUp) {
  auto right = must(passwords_.verify("nora", kPassword, "10.0.0.1"));
  fail("nora", "10.0.0.1", 10);
  auto concluded = sql_->write([&](db::Transaction& tx) -> Result<void> {
    TRY(passwords_.conclude(tx, right));
    return {};
  });
  EXPECT_EQ(concluded.error().code, Code::throttled);
}

TEST_F(LoginThrottleTest, IsLiftedByANewPassword) {
  attack();
  fail("nora", "10.0.0.1", 10);
  must(sql_->write([&](db::Transaction& tx) {
    return directory_.set_password(tx, "nora", crypto::hash_password(kPassword));
  }));
  EXPECT_TRUE(login("nora", "10.0.0.1"));
  EXPECT_TRUE(login("nora", "10.0.0.2"));
}

TEST_F(LoginThrottleTest, DoesNotCountFailuresOfAClockThatWasAYearAhead) {
  ASSERT_TRUE(login("nora", "10.0.0.1"));
  clock_.advance(kYear);
  attack();
  fail("nora", "10.0.0.1", 10);
  EXPECT_EQ(code(login("nora", "10.0.0.1")), Code::throttled);
  clock_.advance(-kYear);
  EXPECT_TRUE(login("nora", "10.0.0.1"));
  EXPECT_TRUE(login("nora", "10.0.0.2"));
  EXPECT_TRUE(login("nora", "10.0.0.3"));
}

TEST_F(LoginThrottleTest, KeepsAnAddressKnownOverAClockThatWasAYearAhead) {
  ASSERT_TRUE(login("nora", "10.0.0.1"));
  clock_.advance(kYear);
  ASSERT_TRUE(login("nora", "10.0.0.2"));
  clock_.advance(-kYear);
  attack();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(login("nora", "10.0.0.1"));
  EXPECT_TRUE(login("nora", "10.0.0.2"));  // the second's one: it was not seen yet
  EXPECT_TRUE(login("nora", "10.0.0.2"));  // and now it was
  EXPECT_EQ(code(login("nora", "10.0.0.3")), Code::throttled);
}

TEST_F(LoginThrottleTest, NamesThatCannotBeOneShareAWord) {
  for (const auto& typed :
       {std::string(101, 'a'), std::string("a\0b", 3), std::string("a\xff"), std::string()})
    EXPECT_EQ(attempted_username(typed), "(no user name)") << typed;
  EXPECT_EQ(attempted_username(" Jos\u00e9:ops "), "jos\u00e9:ops");
}

}  // namespace
}  // namespace dash::identity
