// Enforces a workgroup's change window (DESIGN §7): before the policy gate, without its engine, for the
// actions of its list.
#pragma once
#include <optional>
#include <string>

#include "core/windows/booking.hpp"

namespace dash::windows {

struct WindowRefusal {
  std::string reason;
  OrderedJson schedule;  // the offer to book: {change_window_id, window_name, next_start, next_end}; null
                         // when there is none
};

struct WindowAnswer {
  std::optional<WindowRefusal> refusal;
  std::optional<Slot> slot;  // when the change may start, as the window bounds it; nullopt: as it was booked
};
// `slot`: the booking, if any.
Result<WindowAnswer> ask_window(db::Transaction& tx, Windows& windows, const std::string& workgroup,
                                const std::optional<Slot>& slot, Time now);
// 403 {"error": "change_window", "reasons": […], "schedule": {…}}
Error refused(const WindowRefusal& refusal);

}  // namespace dash::windows
