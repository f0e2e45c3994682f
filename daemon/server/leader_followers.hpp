// The threads of one I/O loop. One of them leads: it waits for sockets and runs their callbacks. The leader is "the
// loop's thread". It runs short handlers itself, which saves the switches to a worker and back: they cost more than most
// handlers. A handler that waits, or that takes longer than a moment, loses the lead to another thread, so that it
// never holds up the loop's other connections.
//
// `work_` alone decides who leads: odd while the leader runs a handler. Exactly one of the compare-exchanges from
// that value succeeds. The handler's thread makes it at the end (it leads on) or before a wait, the watcher when a tick
// finds the same odd value as the tick before. What the leader did to the loop before begin_work() comes before the new
// leader's steps, as the new leader read `work_` or took the mutex after it.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/before_wait.hpp"

namespace dash::daemon {

class LeaderFollowers final : private WaitListener {
 public:
  // `step` waits for one callback and runs it. It returns false once `end` was called, from any thread.
  LeaderFollowers(std::function<bool()> step, std::function<void()> end)
      : step_(std::move(step)), end_(std::move(end)) {}
  ~LeaderFollowers() override { stop(); }

  void start(std::size_t threads);  // blocks until all are running
  void stop();                      // blocks; idempotent
  // For the leader, in a callback, around work that touches nothing of the loop. Returns false when no other thread
  // could take the lead meanwhile, or fewer than `spare` would be left then.
  bool begin_work(std::size_t spare = 0);
  // Returns true when this thread leads still. Otherwise it must not touch what belongs to the loop.
  bool end_work();

 private:
  void on_wait() override;  // in work: another thread leads from here on
  void serve();
  bool await_lead(std::unique_lock<std::mutex>& lock);  // false: stopped
  void watch(std::unique_lock<std::mutex>& lock);
  void sleep_until_work(std::unique_lock<std::mutex>& lock, std::uint64_t seen);
  const std::function<bool()> step_;
  const std::function<void()> end_;
  std::atomic<std::uint64_t> work_ = 0;
  std::atomic<std::size_t> follower_count_ = 0;  // written under the mutex
  std::atomic<bool> is_watcher_asleep_ = false;  // cleared under the mutex
  std::mutex mutex_;
  std::condition_variable leader_needed_, watcher_needed_, all_started_;
  std::size_t started_count_ = 0;
  bool has_no_leader_ = true;  // no thread leads
  bool has_watcher_ = false;   // one follower watches the leader
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace dash::daemon
