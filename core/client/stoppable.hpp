// A long call of this process that another thread can stop. Thread-safe.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace dash::client {

// The pieces of 8 MiB that are under way may take as long as this.
inline constexpr std::chrono::minutes kStopTimeout{2};

class Stoppable {
 public:
  // Calls `work` and returns its result. `work` ends soon after is_stopped() returns true.
  template <class Work>
  auto run(Work work) {
    set_ended(false);
    auto result = work();
    set_ended(true);
    return result;
  }
  bool is_stopped() const { return stop_; }
  // Stops the call, and waits a while until it has ended.
  void stop() {
    std::unique_lock lock(mutex_);
    stop_ = true;
    ended_.wait_for(lock, kStopTimeout, [this] { return has_ended_; });
  }

 private:
  void set_ended(bool value) {
    {
      std::lock_guard lock(mutex_);
      has_ended_ = value;
    }
    ended_.notify_all();
  }
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = true;  // guarded by mutex_
};

}  // namespace dash::client
