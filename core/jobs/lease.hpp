// How long a worker holds a job without a sign of life, and when that time is over.
#pragma once
#include <string>

#include "core/jobs/jobs.hpp"

namespace dash::jobs {

// What was written this far ahead of now was written by a clock that was wrong.
inline constexpr std::chrono::minutes kClockTolerance{5};

// The setting job_lease_seconds.
Result<std::int64_t> lease_micros(const Deps& deps);
// SQL over a row of jobs: its lease has ended, or ends later than any lease that was taken by now. `now` and
// `length` are the numbers of the parameters with the time and with what a lease has whose length is not
// written beside it.
std::string lease_expired_condition(int now, int length);
// SQL: `column` lies in the past, or further ahead than `max_ahead` from now, which nobody asked for.
std::string due_condition(std::string_view column, int now, std::chrono::microseconds max_ahead);

}  // namespace dash::jobs
