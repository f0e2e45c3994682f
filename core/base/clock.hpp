// The interface to time: wall clock for what users and protocols see, steady clock for deadlines.
// Thread-safe.
#pragma once
#include <chrono>
#include <string>

#include "core/base/error.hpp"

namespace dash {

using Time = std::chrono::system_clock::time_point;
using SteadyTime = std::chrono::steady_clock::time_point;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time now() const = 0;
  virtual SteadyTime steady_now() const = 0;
};

class SystemClock final : public Clock {
 public:
  Time now() const override { return std::chrono::system_clock::now(); }
  SteadyTime steady_now() const override { return std::chrono::steady_clock::now(); }
};

// Microseconds since 1970, as the database stores times.
inline std::int64_t to_micros(Time t) {
  return std::chrono::duration_cast<std::chrono::microseconds>(t.time_since_epoch()).count();
}
inline Time from_micros(std::int64_t us) { return Time{} + std::chrono::microseconds(us); }

std::string format_iso(Time t);         // 2026-07-03T14:00:00Z
std::string format_iso_micros(Time t);  // 2026-07-03T14:00:00.123456Z
std::string format_compact(Time t);     // 20260703T140000
// Accepts YYYY-MM-DDTHH:MM[:SS[.ffffff]] with Z, +HH:MM or nothing (taken as UTC).
Result<Time> parse_iso(std::string_view text);

}  // namespace dash
