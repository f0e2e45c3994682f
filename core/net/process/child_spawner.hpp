// One thread that starts children which must die with this process. The kernel sends the parent-death signal
// when the *thread* that started a child ends (prctl(2)), so a pooled or short-lived thread must not start
// them. Thread-safe.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "core/net/process/child.hpp"

namespace dash::net {

class ChildSpawner {
 public:
  ChildSpawner();
  ~ChildSpawner();
  ChildSpawner(const ChildSpawner&) = delete;
  ChildSpawner& operator=(const ChildSpawner&) = delete;

  // Calls Child::start() on the spawner's thread.
  Result<Child> start(const Command& command);

 private:
  void run();
  std::mutex mutex_;
  std::condition_variable woken_;
  std::deque<std::function<void()>> tasks_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace dash::net
