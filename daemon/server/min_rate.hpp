// The minimum rate in bytes per second. Time counts only while this side waits for the other, in windows, so
// that a short pause costs nothing and a slow client is found after one window.
#pragma once
#include <chrono>
#include <cstdint>

namespace dash::daemon {

class MinRate {
 public:
  using Duration = std::chrono::steady_clock::duration;
  MinRate(std::uint64_t floor_bytes_per_second, std::chrono::milliseconds window)
      : floor_(floor_bytes_per_second), window_(window) {}

  // Returns how much longer the current window lasts.
  Duration remaining() const { return window_ - waited_; }
  // Adds a wait and the bytes that came in it. Returns false when a whole window was slower than the floor.
  [[nodiscard]] bool check(Duration waited, std::uint64_t bytes) {
    waited_ += waited;
    bytes_ += bytes;
    if (waited_ < window_) return true;
    double seconds = std::chrono::duration<double>(waited_).count();
    bool enough = static_cast<double>(bytes_) >= static_cast<double>(floor_) * seconds;
    waited_ = {};
    bytes_ = 0;
    return enough;
  }

 private:
  std::uint64_t floor_;
  Duration window_;
  Duration waited_{};
  std::uint64_t bytes_ = 0;
};

}  // namespace dash::daemon
