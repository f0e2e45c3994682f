// Counts what is alive and lets a thread wait until nothing is: connections, for the limit and for the drain.
// Thread-safe.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace dash::daemon {

class Census {
 public:
  void add() {
    std::lock_guard lock(mutex_);
    ++count_;
  }
  void remove() {
    std::lock_guard lock(mutex_);
    if (--count_ == 0) emptied_.notify_all();
  }
  std::size_t count() const {
    std::lock_guard lock(mutex_);
    return count_;
  }
  // False when some are left after `patience`.
  bool wait_until_empty(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    return emptied_.wait_for(lock, patience, [&] { return count_ == 0; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable emptied_;
  std::size_t count_ = 0;
};

}  // namespace dash::daemon
