// Enforces a workgroup's change window: before the policy gate, without its engine, for the
// actions of its list.
#pragma once
#include <optional>
#include <string>

#include "core/windows/schedule.hpp"

namespace dash::windows {

struct WindowRefusal {
  std::string reason;
  OrderedJson schedule;  // the offer to book: {change_window_id, window_name, next_start, next_end}; null
                         // when there is none
};

struct WindowResult {
  std::optional<WindowRefusal> refusal;
  std::optional<TimeRange>
      time_range;  // when the change may start, as the window bounds it; nullopt: as it was booked
};
// `time_range`: the booking, if any.
Result<WindowResult> check_workgroup_window(db::Transaction& tx, Windows& windows,
                                            const std::string& workgroup,
                                            const std::optional<TimeRange>& time_range, Time now);
// 403 {"error": "change_window", "reasons": […], "schedule": {…}}
Error window_error(const WindowRefusal& refusal);

}  // namespace dash::windows
