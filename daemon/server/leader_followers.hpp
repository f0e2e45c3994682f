// The threads of one I/O loop. One of them leads: it waits for sockets and runs their callbacks. A leader
// with a short handler may run it itself when another thread can lead meanwhile. That saves the two switches
// to a worker and back, which cost more than most handlers. The leader is "the loop's thread".
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace dash::daemon {

class LeaderFollowers {
 public:
  // `step` waits for one callback and runs it. It returns false once `end` was called, from any thread.
  LeaderFollowers(std::function<bool()> step, std::function<void()> end)
      : step_(std::move(step)), end_(std::move(end)) {}
  ~LeaderFollowers() { stop(); }

  void start(std::size_t threads);  // blocks until all are running
  void stop();                      // blocks; idempotent
  // For the leader, in a callback. Returns true when another thread leads from here on; this one must then
  // not touch what belongs to the loop. Returns false when no thread is free.
  bool promote_follower();

 private:
  void serve();
  const std::function<bool()> step_;
  const std::function<void()> end_;
  std::mutex mutex_;
  std::condition_variable leader_needed_, all_started_;
  std::size_t started_count_ = 0, follower_count_ = 0;
  bool has_no_leader_ = true;  // no thread leads
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace dash::daemon
