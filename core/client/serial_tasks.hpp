// Runs tasks one after the other on a thread of its own, for work that overlaps with the caller's. After a failure the
// rest is dropped.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "core/base/error.hpp"

namespace dash::client {

class SerialTasks {
 public:
  using Task = std::function<Result<void>()>;
  // Without a thread, post() runs the task itself.
  explicit SerialTasks(bool has_thread) {
    if (has_thread) thread_ = std::jthread([this] { run(); });
  }
  ~SerialTasks() { close(); }
  SerialTasks(const SerialTasks&) = delete;
  SerialTasks& operator=(const SerialTasks&) = delete;

  // Returns the error of an earlier task. Thread-safe.
  Result<void> post(Task task) {
    std::unique_lock lock(mutex_);
    if (failed_) return Failure(*failed_);
    if (!thread_.joinable()) return task();
    tasks_.push_back(std::move(task));
    changed_.notify_one();
    return {};
  }
  // Waits for all tasks. Nothing is posted afterwards.
  Result<void> finish() {
    close();
    if (failed_) return Failure(*failed_);
    return {};
  }

 private:
  void close() {
    {
      std::lock_guard lock(mutex_);
      is_closed_ = true;
      changed_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
  }
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return is_closed_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      auto task = std::move(tasks_.front());
      tasks_.pop_front();
      bool is_dropped = failed_.has_value();
      lock.unlock();
      auto done = is_dropped ? Result<void>() : task();
      task = nullptr;  // gives back what it holds
      lock.lock();
      if (!done && !failed_) failed_ = std::move(done).error();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  std::optional<Error> failed_;
  bool is_closed_ = false;
  std::jthread thread_;  // last: it uses the members above
};

}  // namespace dash::client
