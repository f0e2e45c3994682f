// Enforces a workgroup's change window for the actions of its list. It runs before the policy gate and needs
// no policy engine.
#pragma once
#include <optional>
#include <string>

#include "core/windows/schedule.hpp"

namespace dash::windows {

struct WindowRefusal {
  std::string reason;
  // The offer to book: {change_window_id, window_name, next_start, next_end}; null without a next occurrence.
  OrderedJson schedule;
};

struct WindowResult {
  std::optional<WindowRefusal> refusal;
  // When the change may start, as the window bounds it; nullopt: as it was scheduled.
  std::optional<TimeRange> time_range;
};
// Checks a change; `time_range` is the scheduled one, if any.
Result<WindowResult> check_workgroup_window(const WorkgroupRule& rule, const std::string& workgroup,
                                            const std::optional<TimeRange>& time_range, Time now);
// Returns the 403 {"error": "change_window", "reasons": […], "schedule": {…}}.
Error window_error(const WindowRefusal& refusal);

}  // namespace dash::windows
