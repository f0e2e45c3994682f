// Runs a numbered list of work on several threads, for a command that moves many things at once. The results
// are reported in the order of the list, on the calling thread.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace dash::client {

inline constexpr std::chrono::hours kTransferBufferTimeout{1};  // how long to wait for a buffer

// Lets threads continue one after another, in the order of their numbers.
class Sequencer {
 public:
  // Waits until every smaller number has passed. Returns false when the sequencer was closed instead.
  bool wait_for(std::size_t number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_closed_ || next_ >= number; });
    return !is_closed_;
  }
  void advance() {
    std::lock_guard lock(mutex_);
    ++next_;
    changed_.notify_all();
  }
  void close() {
    std::lock_guard lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0;
  bool is_closed_ = false;
};

// Runs `work(worker)` on `workers` threads, this one among them as worker 0, and waits for all of them.
inline void run_workers(std::size_t workers, const std::function<void(std::size_t worker)>& work) {
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < workers; ++i) others.emplace_back(work, i);
  work(0);
}

// Calls `work(i)` for every i below `count`, on at most `workers` threads, then `on_result(i, result)`. An
// exception of either ends everything: no new work begins, and it is thrown here.
template <class T>
void parallel_for_ordered(std::size_t count, std::size_t workers, const std::function<T(std::size_t)>& work,
                          const std::function<void(std::size_t, T)>& on_result) {
  std::mutex mutex;
  std::condition_variable arrived;
  std::map<std::size_t, std::future<T>> done;
  std::size_t next = 0;
  auto worker = [&] {
    for (;;) {
      std::unique_lock lock(mutex);
      auto i = next++;
      lock.unlock();
      if (i >= count) return;
      std::packaged_task<T()> task([&] { return work(i); });
      task();
      lock.lock();
      done.emplace(i, task.get_future());
      arrived.notify_one();
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < std::min(workers, count); ++i) threads.emplace_back(worker);
  for (std::size_t i = 0; i < count; ++i) {
    std::unique_lock lock(mutex);
    arrived.wait(lock, [&] { return done.contains(i); });
    auto result = std::move(done.extract(i).mapped());
    lock.unlock();
    try {
      on_result(i, result.get());
    } catch (...) {
      lock.lock();
      next = count;
      throw;
    }
  }
}

}  // namespace dash::client
