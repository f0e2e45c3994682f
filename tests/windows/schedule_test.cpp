#include "core/windows/schedule.hpp"

#include "tests/support/accounts.hpp"
#include "tests/support/jobs_fixture.hpp"
#include "tests/windows/booking_fixture.hpp"

namespace dash::jobs {
namespace {

TEST_F(Booking, ATimeIsLocalUnlessItSaysOtherwise) {
  auto at = [&](std::string run_at, std::string zone) {
    return format_iso(*deployed(machine({{"run_at", run_at}, {"run_timezone", zone}})).run_at);
  };
  EXPECT_EQ(at("2026-07-04T10:00", "America/New_York"), "2026-07-04T14:00:00Z");
  EXPECT_EQ(at("2026-07-04T10:00Z", "America/New_York"), "2026-07-04T10:00:00Z");
  EXPECT_EQ(at("2026-07-04T10:00:00+02:00", ""), "2026-07-04T08:00:00Z");
  EXPECT_EQ(at("2026-07-04T10:00", ""), "2026-07-04T10:00:00Z");
}

TEST_F(Booking, NonsenseIsRefused) {
  auto window = nights();
  auto disabled = must(windows_.create(
      root_, {{"name", "never"}, {"start_at_local", "06:00"}, {"duration_minutes", 60}, {"enabled", false}}));
  for (const Json& more :
       {Json{{"run_at", "2026-07-03T13:00"}}, Json{{"run_at", "2029-07-03T13:00"}},
        Json{{"run_at", "tomorrow"}}, Json{{"run_at", "2026-07-04T10:00"}, {"run_timezone", "Mars/Base"}},
        Json{{"change_window_id", "nope"}}, Json{{"change_window_id", disabled.id}},
        Json{{"change_window_id", window.id}, {"run_at", "2026-07-04T10:00"}}})
    EXPECT_EQ(deploy(machine(more)).error().code, Code::invalid) << dump_json(more);
}

// A zone's name ends at a NUL for C functions.
TEST_F(Booking, AZoneWithAControlCharacterIsRefused) {
  for (const auto& zone : {std::string("UTC\0x", 5), std::string("UTC\0", 4),
                           std::string("UT\x01"
                                       "C")}) {
    auto booked = deploy(machine({{"run_at", "2026-07-04T10:00"}, {"run_timezone", zone}}));
    ASSERT_FALSE(booked);
    EXPECT_EQ(booked.error().code, Code::validation);
    EXPECT_EQ(booked.error().body->at(0)["loc"], OrderedJson({"body", "run_timezone"}));
    auto torn = jobs_.submit(
        root_, {"cloud1:vm:destroy", {{"run_at", "2026-07-04T10:00"}, {"run_timezone", zone}}, "i-1"});
    ASSERT_FALSE(torn);
    EXPECT_EQ(torn.error().body->at(0)["loc"], OrderedJson({"query", "run_timezone"}));
    auto made = windows_.create(
        root_, {{"name", "z"}, {"start_at_local", "06:00"}, {"duration_minutes", 60}, {"timezone", zone}});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, Code::validation);
    EXPECT_EQ(windows_
                  .update(root_, nights({{"name", "n" + std::to_string(must(windows_.list()).size())}}).id,
                          {{"timezone", zone}})
                  .error()
                  .code,
              Code::validation);
  }
  EXPECT_TRUE(deploy(machine({{"run_at", "2026-07-04T10:00"}, {"run_timezone", " Europe/Berlin "}})));
}

}  // namespace
}  // namespace dash::jobs
