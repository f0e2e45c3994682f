// A change that is booked for later: turns `run_at`, `run_timezone` and `change_window_id` of a deploy body
// or of a teardown's query into the range of time in which the job may start.
#pragma once
#include <optional>
#include <string>

#include "core/windows/windows.hpp"

namespace dash::windows {

struct ScheduleRequest {
  std::string run_at;  // YYYY-MM-DDTHH:MM[:SS], with an offset or Z; without one it is local to run_timezone
  std::string timezone;  // IANA, empty: UTC
  std::string window_id;

  bool empty() const { return run_at.empty() && window_id.empty(); }
};

// Reads `run_at`, `run_timezone` and `change_window_id` of a body or a query. Code::validation for another
// type.
Result<ScheduleRequest> parse_schedule_request(const Json& body);

struct TimeRange {
  Time start;
  Time end;
  std::optional<std::string> window_id;
};

// Returns the range of a request. With a window alone: its open or next occurrence. With a time alone: from
// then on for `grace`. With both: the time, which must be inside of the window. Code::invalid for an unknown
// or disabled window, and for a time in the past or more than two years ahead.
Result<std::optional<TimeRange>> resolve_schedule(db::Transaction& tx, Windows& windows,
                                                  const ScheduleRequest& request, Time now,
                                                  std::chrono::minutes grace);

}  // namespace dash::windows
