// Limits the effect of a wrong clock. A time in the database may have been written by a replica whose clock
// is a little ahead, or by this one before its clock was corrected.
#pragma once
#include "core/base/clock.hpp"

namespace dash {

// How far ahead of now a time may be and still be accepted.
inline constexpr std::chrono::minutes kMaxClockSkew{5};

// Returns whether a time is further ahead than that. The clock was wrong then, and what was issued counts as
// expired.
inline bool is_from_the_future(Time issued, Time now) { return issued > now + kMaxClockSkew; }

}  // namespace dash
