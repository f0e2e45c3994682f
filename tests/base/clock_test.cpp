#include "core/base/clock.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash {
namespace {

TEST(ParseIso, TakesOffsetsAndFractions) {
  EXPECT_EQ(format_iso_micros(must(parse_iso("2026-07-03T14:00:00Z"))), "2026-07-03T14:00:00.000000Z");
  EXPECT_EQ(format_iso_micros(must(parse_iso("2026-07-03T14:00"))), "2026-07-03T14:00:00.000000Z");
  EXPECT_EQ(format_iso_micros(must(parse_iso("2026-07-03T14:00:00.25+02:00"))),
            "2026-07-03T12:00:00.250000Z");
}

TEST(ParseIso, RefusesWhatIsNoTime) {
  for (auto text : {"", "2026-07-03", "2026-02-30T00:00:00Z", "2026-07-03T24:00:00Z", "2026-07-03T14:00:00x",
                    "2026-07-03T14:00:00+2:00"})
    EXPECT_EQ(parse_iso(text).error().code, Code::invalid) << text;
}

TEST(ParseIso, RefusesYearsThatATimeDoesNotReach) {
  EXPECT_EQ(format_iso(must(parse_iso("1678-01-01T00:00:00Z"))), "1678-01-01T00:00:00Z");
  EXPECT_EQ(format_iso(must(parse_iso("2261-12-31T23:59:59Z"))), "2261-12-31T23:59:59Z");
  for (auto text :
       {"0000-01-01T00:00:00Z", "1677-12-31T23:59:59Z", "2262-01-01T00:00:00Z", "9999-12-31T23:59:59Z"})
    EXPECT_EQ(parse_iso(text).error().code, Code::invalid) << text;
}

}  // namespace
}  // namespace dash
