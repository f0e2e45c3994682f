// Several threads at one numbered list of work, for a command that sends or takes many things at once. What
// comes of each is told in the order of the list, on the thread that called.
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

inline constexpr std::chrono::hours kTransferPatience{1};  // for a buffer of a part

// Lets threads pass one after another, in the order of their numbers.
class Turnstile {
 public:
  // Waits until every smaller number has passed; false when the gate was closed instead.
  bool wait_for(std::size_t number) {
    std::unique_lock lock(mutex_);
    moved_.wait(lock, [&] { return is_closed_ || next_ >= number; });
    return !is_closed_;
  }
  void pass() {
    std::lock_guard lock(mutex_);
    ++next_;
    moved_.notify_all();
  }
  void close() {
    std::lock_guard lock(mutex_);
    is_closed_ = true;
    moved_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable moved_;
  std::size_t next_ = 0;
  bool is_closed_ = false;
};

// Runs `work(hand)` on `hands` threads, this one among them as hand 0, and waits for all of them.
inline void with_hands(std::size_t hands, const std::function<void(std::size_t hand)>& work) {
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < hands; ++i) others.emplace_back(work, i);
  work(0);
}

// `work(i)` for every i below `count`, on at most `hands` threads; then `tell(i, what came of it)`. What
// either throws ends it all: nothing new is begun, and it is thrown here.
template <class T>
void each_in_order(std::size_t count, std::size_t hands, const std::function<T(std::size_t)>& work,
                   const std::function<void(std::size_t, T)>& tell) {
  std::mutex mutex;
  std::condition_variable arrived;
  std::map<std::size_t, std::future<T>> done;
  std::size_t next = 0;
  auto hand = [&] {
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
  for (std::size_t i = 0; i < std::min(hands, count); ++i) threads.emplace_back(hand);
  for (std::size_t i = 0; i < count; ++i) {
    std::unique_lock lock(mutex);
    arrived.wait(lock, [&] { return done.contains(i); });
    auto result = std::move(done.extract(i).mapped());
    lock.unlock();
    try {
      tell(i, result.get());
    } catch (...) {
      lock.lock();
      next = count;
      throw;
    }
  }
}

}  // namespace dash::client
