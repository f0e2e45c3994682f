#include "core/net/http/retry_after.hpp"

#include <gtest/gtest.h>

namespace dash::net {
namespace {

using std::chrono::seconds;

TEST(RetryAfter, IsSecondsOrADate) {
  EXPECT_EQ(retry_after({{"Retry-After", " 12 "}}), seconds(12));
  EXPECT_EQ(retry_after({{"Date", "Fri, 03 Jul 2026 14:00:00 GMT"},
                         {"retry-after", "Fri, 03 Jul 2026 14:00:30 GMT"}}),
            seconds(30));
  EXPECT_EQ(retry_after({{"Date", "Fri, 03 Jul 2026 14:00:00 GMT"},
                         {"Retry-After", "Fri, 03 Jul 2026 13:00:00 GMT"}}),
            seconds(0));
}

TEST(RetryAfter, IsADayAtMost) {
  EXPECT_EQ(retry_after({{"Retry-After", "9223372036854775807"}}), seconds(24 * 3600));
}

TEST(RetryAfter, IsNothingWhenItMeansNothing) {
  EXPECT_EQ(retry_after({}), std::nullopt);
  for (auto text : {"", "soon", "-1", "1.5", "99999999999999999999", "Fri, 03 Jul 2026 14:00:30 GMT"})
    EXPECT_EQ(retry_after({{"Retry-After", text}}), std::nullopt) << text;
}

}  // namespace
}  // namespace dash::net
