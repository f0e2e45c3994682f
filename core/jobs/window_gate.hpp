// Enforces a workgroup's change window (DESIGN §7): before the policy gate, without its engine, for the
// actions of its list.
#pragma once
#include <optional>
#include <string>

#include "core/jobs/booking.hpp"

namespace dash::jobs {

struct WindowRefusal {
  std::string reason;
  OrderedJson schedule;  // the offer to book: {change_window_id, window_name, next_start, next_end}; null
                         // when there is none
};

// nullopt: admitted. `slot`: the booking, if any. What cannot be evaluated is refused.
Result<std::optional<WindowRefusal>> window_refusal(db::Transaction& tx, Windows& windows,
                                                    const std::string& workgroup,
                                                    const std::optional<Slot>& slot, Time now);
// 403 {"error": "change_window", "reasons": […], "schedule": {…}}
Error refused(const WindowRefusal& refusal);

}  // namespace dash::jobs
