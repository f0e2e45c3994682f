// How long a worker holds a job without renewing its lease, and when that time is over.
#pragma once
#include <string>

#include "core/base/clock.hpp"
#include "core/config/settings.hpp"

namespace dash::jobs {

// A time that far ahead of now was written by a wrong clock.
inline constexpr std::chrono::minutes kClockTolerance{5};

// Reads the setting job_lease_seconds.
Result<std::int64_t> lease_micros(config::Settings& settings);
// Returns SQL over a row of jobs: its lease has ended, or ends later than any valid lease can. `now` and
// `length` are the numbers of the parameters with the time and with the default length of a lease.
std::string lease_expired_condition(int now, int length);
// Returns SQL: `column` is in the past, or further ahead of now than `max_ahead`, which no request can set.
std::string due_condition(std::string_view column, int now, std::chrono::microseconds max_ahead);

}  // namespace dash::jobs
