// Waits for what another thread or process makes true, so that a test fails instead of hanging.
#pragma once
#include <chrono>
#include <thread>

namespace dash {

// Polls until `condition` holds. Returns false after a minute.
template <class Condition>
[[nodiscard]] bool wait_until(Condition condition) {
  auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace dash
