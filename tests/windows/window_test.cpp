#include "core/windows/window.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/windows/zone.hpp"
#include "tests/support/must.hpp"

namespace dash::windows {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

Time at(std::string_view iso) { return must(parse_iso(iso)); }

Window window(std::string start, int length, std::string zone, std::string mask = "1111111") {
  Window w;
  w.name = "nights";
  w.start = std::move(start);
  w.duration_minutes = length;
  w.zone = std::move(zone);
  w.days = std::move(mask);
  return w;
}

std::string opens(const Window& w, std::string_view t) { return format_iso(must(next(w, at(t))).start); }

TEST(ChangeWindow, KeepsItsWallTimeAcrossTheSeasons) {
  auto w = window("02:00", 240, "America/New_York");
  EXPECT_EQ(opens(w, "2026-03-07T00:00:00Z"), "2026-03-07T07:00:00Z");
  EXPECT_EQ(opens(w, "2026-03-09T00:00:00Z"), "2026-03-09T06:00:00Z");
  EXPECT_EQ(opens(w, "2026-10-31T00:00:00Z"), "2026-10-31T06:00:00Z");
  EXPECT_EQ(opens(w, "2026-11-02T00:00:00Z"), "2026-11-02T07:00:00Z");
  EXPECT_EQ(opens(window("01:00", 60, "Europe/London"), "2026-07-10T00:00:00Z"), "2026-07-10T00:00:00Z");
  EXPECT_EQ(opens(window("10:00", 60, "UTC", "0000010"), "2026-03-09T00:00:00Z"), "2026-03-14T10:00:00Z");
}

TEST(ChangeWindow, IsOpenAtItsFirstInstantAndClosedAtItsLast) {
  auto w = window("10:00", 60, "UTC");
  EXPECT_FALSE(must(open_occurrence(w, at("2026-07-03T09:59:59Z"))));
  EXPECT_TRUE(must(open_occurrence(w, at("2026-07-03T10:00:00Z"))));
  EXPECT_TRUE(must(open_occurrence(w, at("2026-07-03T10:59:59Z"))));
  EXPECT_FALSE(must(open_occurrence(w, at("2026-07-03T11:00:00Z"))));
}

TEST(ChangeWindow, StaysOpenForDaysWhenItIsThatLong) {
  auto w = window("00:00", 4 * 24 * 60, "UTC", "0000010");
  EXPECT_TRUE(must(open_occurrence(w, at("2026-07-07T10:00:00Z"))));
  EXPECT_FALSE(must(open_occurrence(w, at("2026-07-08T00:00:00Z"))));
}

TEST(ChangeWindow, HasNoHoleBetweenWholeDays) {
  auto w = window("00:00", 24 * 60, "Europe/Berlin");
  for (auto t = at("2026-03-27T00:00:00Z"); t < at("2026-04-02T00:00:00Z"); t += minutes(1))
    ASSERT_TRUE(must(open_occurrence(w, t))) << format_iso(t);
  EXPECT_TRUE(must(open_occurrence(w, at("2026-07-04T22:00:00Z"))));
}

TEST(ChangeWindow, RefusesNonsense) {
  for (auto w :
       {window("24:00", 60, "UTC"), window("9:00", 60, "UTC"), window("09:00", 0, "UTC"),
        window("09:00", 10'081, "UTC"), window("09:00", 60, "Mars/Olympus"), window("09:00", 60, "localtime"),
        window("09:00", 60, ""), window("09:00", 60, "UTC", "0000000"), window("09:00", 60, "UTC", "111"),
        window("09:00", 60, "UTC", "111111x")})
    EXPECT_EQ(check(w).error().code, Code::invalid) << w.start << w.zone << w.days;
  EXPECT_TRUE(check(window("09:00", 10'080, "Asia/Kathmandu", "1000000")));
}

TEST(ChangeWindow, SaysItselfInAWord) {
  EXPECT_EQ(summary(window("22:00", 240, "Europe/London", "1111100")),
            "Mon–Fri 22:00–02:00 (+1d) (Europe/London), 4h");
  EXPECT_EQ(summary(window("01:00", 90, "UTC", "0000011")), "Sat, Sun 01:00–02:30 (UTC), 1h 30m");
  EXPECT_EQ(summary(window("01:00", 45, "UTC")), "every day 01:00–01:45 (UTC), 45m");
}

TEST(ChangeWindow, WarnsOfWhatIsPerhapsNotMeant) {
  auto now = at("2026-07-03T14:00:00Z");
  auto w = window("10:00", 60, "UTC");
  auto past = must(warnings(w, {}, now));
  ASSERT_EQ(past.size(), 1u);
  EXPECT_NE(past[0].find("2026-07-04T10:00:00Z"), std::string::npos);
  EXPECT_EQ(must(warnings(window("10:00", 25 * 60, "UTC"), {}, at("2026-07-03T09:00:00Z"))).size(), 1u);
  auto other = window("16:30", 60, "UTC");
  other.id = "2";
  other.name = "evenings";
  EXPECT_NE(must(warnings(window("16:00", 60, "UTC"), {other}, now)).at(0).find("evenings"),
            std::string::npos);
  EXPECT_TRUE(must(warnings(window("18:00", 60, "UTC"), {other}, now)).empty());
}

std::vector<std::string> all_zones() {
  std::ifstream in("/usr/share/zoneinfo/tzdata.zi");
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string kind, name;
    words >> kind >> name;
    if (kind == "Z") out.push_back(name);
  }
  return out;
}

seconds offset(const std::string& zone, Time t) {
  return must(to_local(zone, t)).time_since_epoch() -
         std::chrono::duration_cast<seconds>(t.time_since_epoch());
}

// Every change of every zone's clocks, to the minute.
std::vector<Time> transitions(const std::string& zone) {
  std::vector<Time> out;
  for (auto t = at("2024-01-01T00:00:00Z"); t < at("2041-01-01T00:00:00Z"); t += days(3)) {
    auto low = t, high = t + days(3);
    if (offset(zone, low) == offset(zone, high)) continue;
    while (high - low > seconds(1)) {
      auto middle = low + std::chrono::floor<seconds>((high - low) / 2);
      (offset(zone, middle) == offset(zone, low) ? low : high) = middle;
    }
    out.push_back(high);
  }
  return out;
}

// At each transition: a window that starts at, before and after it lasts its full length, opens once on each
// day of the wall clock, in order, and next() agrees with open_occurrence().
TEST(ChangeWindow, SurvivesEveryClockChangeOfEveryZone) {
  auto zones = all_zones();
  ASSERT_GT(zones.size(), 300u);
  std::size_t seen = 0;
  for (const auto& zone : zones)
    for (auto change : transitions(zone)) {
      ++seen;
      for (auto shift : {minutes(-30), minutes(0), minutes(30)}) {
        auto local = must(to_local(zone, change + shift));
        auto of_day = std::chrono::floor<minutes>(local - std::chrono::floor<days>(local)).count();
        auto w = window(fmt::format("{:02}:{:02}", of_day / 60, of_day % 60), 90, zone);
        auto previous = Time::min();
        auto t = change - days(2);
        for (int day = 0; day < 4; ++day) {
          auto o = must(next(w, t));
          ASSERT_EQ(o.end - o.start, minutes(90)) << zone;
          ASSERT_GT(o.start, previous) << zone << " " << format_iso(change);
          if (previous != Time::min()) {
            auto gap = o.start - previous;
            auto moved = offset(zone, previous) - offset(zone, o.start);
            // A wall time that the change skips opens late by what was skipped.
            ASSERT_LE(gap, hours(24) + std::max(seconds(0), moved) + std::chrono::abs(moved))
                << zone << " " << format_iso(change);
            ASSERT_GE(gap, hours(24) - std::chrono::abs(moved) * 2) << zone << " " << format_iso(change);
          }
          auto open = must(open_occurrence(w, o.start));
          ASSERT_TRUE(open) << zone;
          ASSERT_FALSE(must(open_occurrence(w, o.start - seconds(1)))) << zone << " " << format_iso(change);
          previous = o.start;
          t = o.end;
        }
      }
    }
  EXPECT_GT(seen, 3000u);
}

}  // namespace
}  // namespace dash::windows
