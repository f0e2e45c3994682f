// Local time of IANA zones. Only this file uses the zone database (Abseil's cctz), so that windows stay pure
// arithmetic.
#pragma once
#include <chrono>
#include <string>

#include "core/base/clock.hpp"

namespace dash::windows {

// The reading of a wall clock: days and seconds without a zone.
using LocalTime = std::chrono::local_time<std::chrono::seconds>;

bool is_zone(const std::string& name);
// Code::invalid names an unknown zone. A reading that a spring change skips takes the offset before the
// change (02:30 → 03:30). Of a reading that an autumn change repeats, the first counts.
Result<Time> to_utc(const std::string& zone, LocalTime local);
Result<LocalTime> to_local(const std::string& zone, Time time);

}  // namespace dash::windows
