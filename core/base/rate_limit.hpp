// A limit of bytes a second that several threads share. It grants no burst: n bytes are granted when they
// could have passed at the limit's pace. It does not wait; its caller does. Thread-safe.
#pragma once
#include <algorithm>
#include <cstdint>
#include <mutex>

#include "core/base/clock.hpp"

namespace dash {

class RateLimit {
 public:
  // 0 bytes a second: no limit.
  explicit RateLimit(std::uint64_t bytes_per_second) : bytes_per_second_(bytes_per_second) {}

  // Returns when the caller may move `bytes` more, after everything that was reserved before.
  SteadyTime reserve(std::uint64_t bytes, SteadyTime now) {
    if (bytes_per_second_ == 0) return now;
    auto seconds =
        std::chrono::duration<double>(static_cast<double>(bytes) / static_cast<double>(bytes_per_second_));
    std::lock_guard lock(mutex_);
    free_at_ = std::max(free_at_, now) + std::chrono::duration_cast<SteadyTime::duration>(seconds);
    return free_at_;
  }

 private:
  const std::uint64_t bytes_per_second_;
  std::mutex mutex_;
  SteadyTime free_at_{};
};

}  // namespace dash
