// A change window as arithmetic: when it opens, and whether it is open. No clock, no database. Times are
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
  int duration_minutes = 60;     // elapsed time: a change of the clocks does not shorten it
  std::string zone = "UTC";      // IANA
  std::string days = "1111111";  // Monday first
  bool enabled = true;
  std::string created_by;
};

struct Occurrence {
  Time start;
  Time end;
};

// Fails with Code::invalid and what is wrong with a field.
Result<void> check(const Window& window);

// Returns the occurrence that is open at `t` (of several, the one that stays open longest), or nullopt.
Result<std::optional<Occurrence>> open_occurrence(const Window& window, Time t);
// Returns the first occurrence that has not ended at `t`: the open one, or the next.
Result<Occurrence> next(const Window& window, Time t);
// Returns the first occurrence that starts after `t`.
Result<Occurrence> next_opening(const Window& window, Time t);

// Returns "Mon–Fri 02:00–06:00 (Europe/London), 4h".
std::string summary(const Window& window);

// Returns sentences about a window that is legal but perhaps a mistake: today's occurrence is past, one
// occurrence runs into the next, or it overlaps one of `others` within two weeks.
Result<std::vector<std::string>> warnings(const Window& window, const std::vector<Window>& others, Time now);

}  // namespace dash::windows
