#include "core/identity/throttle.hpp"

#include <gtest/gtest.h>

#include "core/identity/login_throttle.hpp"
#include "tests/support/accounts.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/scratch.hpp"

namespace dash::identity {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
constexpr hours kYear{365 * 24};

TEST(ThrottleTest, DoesNotCountAttemptsOfAClockThatWasAYearAhead) {
  Scratch scratch;
  FakeClock clock;
  auto sql = scratch_database(scratch);
  Throttle throttle(*sql, clock);
  const AttemptLimit limit{"setup.claim", 2, minutes(15)};
  clock.advance(kYear);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(throttle.check_and_count(limit, "10.0.0.1"));
  EXPECT_EQ(throttle.check_and_count(limit, "10.0.0.1").error().retry_after, seconds(900));
  clock.advance(-kYear);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(throttle.check_and_count(limit, "10.0.0.1"));
  EXPECT_EQ(throttle.check_and_count(limit, "10.0.0.1").error().code, Code::throttled);
  clock.advance(kYear);
  EXPECT_TRUE(throttle.check_and_count(limit, "10.0.0.1"));
}

}  // namespace
}  // namespace dash::identity
