// A change window as arithmetic: when it opens, whether it is open. No clock, no database. Times are
// half-open: a window is open at its first instant and closed at its last.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"

namespace dash::windows {

inline constexpr int kMaxWindowMinutes = 10'080;  // a week

struct Window {
  std::string id;
  std::string name;  // unique
  std::string description;
  std::string start = "00:00";   // HH:MM on the zone's wall clock
  int duration_minutes = 60;     // elapsed, so a change of the clocks does not shorten it
  std::string zone = "UTC";      // IANA
  std::string days = "1111111";  // Monday first
  bool enabled = true;
  std::string created_by;
};

struct Occurrence {
  Time start;
  Time end;
};

// Code::invalid says what is wrong with a field.
Result<void> check(const Window& window);

// The occurrence that is open at `t` (of several, the one that stays open longest), or nullopt.
Result<std::optional<Occurrence>> open_occurrence(const Window& window, Time t);
// The first occurrence that has not ended at `t`: the open one, or the next.
Result<Occurrence> next(const Window& window, Time t);
// The first that starts after `t`.
Result<Occurrence> next_opening(const Window& window, Time t);

// "Mon–Fri 02:00–06:00 (Europe/London), 4h"
std::string summary(const Window& window);

// Sentences about a window that is legal and perhaps not meant: today's occurrence is past, one occurrence
// runs into the next, it overlaps one of `others` within two weeks.
Result<std::vector<std::string>> warnings(const Window& window, const std::vector<Window>& others, Time now);

}  // namespace dash::windows
