#include "daemon/server/min_rate.hpp"

#include <gtest/gtest.h>

namespace dash::daemon {
namespace {

using std::chrono::milliseconds;

TEST(MinRate, OnlyAWholeWindowBelowTheFloorIsTooSlow) {
  using std::chrono::seconds;
  MinRate min_rate(1024, seconds(30));
  EXPECT_TRUE(min_rate.check(seconds(29), 0));
  EXPECT_EQ(min_rate.remaining(), seconds(1));
  EXPECT_TRUE(min_rate.check(seconds(1), 30 * 1024));
  EXPECT_TRUE(min_rate.check(seconds(29), 1'000'000));
  EXPECT_TRUE(min_rate.check(seconds(1), 0));
  EXPECT_TRUE(min_rate.check(seconds(29), 30 * 1024 - 1));
  EXPECT_FALSE(min_rate.check(seconds(1), 0));
}

}  // namespace
}  // namespace dash::daemon
