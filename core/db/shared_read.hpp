// A value that many threads read at once from elsewhere: those who wait share the next read, which begins after
// they came, so that none gets an older value than it would have read itself.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

#include "core/base/error.hpp"

namespace dash::db {

template <class T>
class SharedRead {
 public:
  explicit SharedRead(std::function<Result<T>()> read) : read_(std::move(read)) {}

  Result<T> get() {
    std::unique_lock lock(mutex_);
    const auto wanted = begun_ + 1;
    while (ended_ < wanted) {
      if (is_reading_) {
        read_ended_.wait(lock);
        continue;
      }
      is_reading_ = true;
      const auto mine = ++begun_;
      lock.unlock();
      auto value = read_();
      lock.lock();
      value_ = std::move(value);
      ended_ = mine;
      is_reading_ = false;
      read_ended_.notify_all();
    }
    return value_;
  }

 private:
  const std::function<Result<T>()> read_;
  std::mutex mutex_;
  std::condition_variable read_ended_;
  std::uint64_t begun_ = 0, ended_ = 0;
  bool is_reading_ = false;
  Result<T> value_ = fail(Code::internal, "nothing was read yet");
};

}  // namespace dash::db
