#include "core/net/http/http_date.hpp"

#include <gtest/gtest.h>

namespace dash::net {
namespace {

TEST(HttpDate, ReadsWhatItWrites) {
  auto at = parse_http_date("Fri, 03 Jul 2026 14:00:00 GMT");
  ASSERT_TRUE(at);
  EXPECT_EQ(format_iso(*at), "2026-07-03T14:00:00Z");
  EXPECT_EQ(format_http_date(*at), "Fri, 03 Jul 2026 14:00:00 GMT");
}

TEST(HttpDate, RefusesWhatIsNoDateOrOutOfReach) {
  for (auto text : {"", "soon", "Fri, 31 Feb 2026 14:00:00 GMT", "Wed, 09 Sep 4018 09:20:02 GMT",
                    "Fri, 03 Jul 2026 14:00:00 GMT+1"})
    EXPECT_FALSE(parse_http_date(text)) << text;
}

}  // namespace
}  // namespace dash::net
