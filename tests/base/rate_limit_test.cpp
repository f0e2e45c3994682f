#include "core/base/rate_limit.hpp"

#include <gtest/gtest.h>

namespace dash {
namespace {

using std::chrono::seconds;

TEST(RateLimit, GrantsBytesWhenTheyCouldHavePassed) {
  RateLimit limit(1000);
  SteadyTime start{seconds(100)};
  EXPECT_EQ(limit.reserve(2000, start), start + seconds(2)) << "no burst";
  EXPECT_EQ(limit.reserve(1000, start + seconds(1)), start + seconds(3)) << "after what was reserved before";
}

TEST(RateLimit, DoesNotSaveUpWhatNobodyUsed) {
  RateLimit limit(1000);
  SteadyTime start{seconds(100)};
  limit.reserve(1000, start);
  EXPECT_EQ(limit.reserve(1000, start + seconds(60)), start + seconds(61));
}

TEST(RateLimit, OfZeroIsNoLimit) {
  SteadyTime start{seconds(100)};
  EXPECT_EQ(RateLimit(0).reserve(1'000'000'000, start), start);
}

}  // namespace
}  // namespace dash
