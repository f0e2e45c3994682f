// Local time of IANA zones. The only door to the zone database (Abseil's cctz), so that windows stay pure
// arithmetic.
#pragma once
#include <chrono>
#include <string>

#include "core/base/clock.hpp"

namespace dash::windows {

// A wall clock's reading: days and seconds without a zone.
using LocalTime = std::chrono::local_time<std::chrono::seconds>;

bool is_zone(const std::string& name);
// Code::invalid names an unknown zone. A reading that a spring change skips is taken with the offset before
// the change (02:30 → 03:30); one that an autumn change repeats is the first.
Result<Time> to_utc(const std::string& zone, LocalTime local);
Result<LocalTime> to_local(const std::string& zone, Time time);

}  // namespace dash::windows
