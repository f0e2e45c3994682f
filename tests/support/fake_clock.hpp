// A clock that changes only when a test moves it.
#pragma once
#include <atomic>

#include "core/base/clock.hpp"

namespace dash {

class FakeClock final : public Clock {
 public:
  explicit FakeClock(std::string_view iso = "2026-07-03T14:00:00Z")
      : now_us_(to_micros(parse_iso(iso).value())) {}
  Time now() const override { return from_micros(now_us_); }
  SteadyTime steady_now() const override { return SteadyTime{} + std::chrono::microseconds(now_us_); }
  void advance(std::chrono::microseconds by) { now_us_ += by.count(); }
  void set(std::string_view iso) { now_us_ = to_micros(parse_iso(iso).value()); }

 private:
  std::atomic<std::int64_t> now_us_;
};

}  // namespace dash
