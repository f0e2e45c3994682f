// Threads that run blocking work behind a bounded queue: the bound is how the daemon says 503 instead of
// growing. One pool for each thing that can be slow, so that a slow store cannot starve a login. Idle threads
// sleep. No user and no network has more than a share of the queue. Thread-safe.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "core/base/shares.hpp"

namespace dash {

class WorkerPool {
 public:
  using Task = std::function<void()>;  // must not throw

  WorkerPool(std::string name, std::size_t threads, std::size_t queue_limit, ShareLimits most = {});
  ~WorkerPool();  // runs what is queued, then joins
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // False when the queue is full, or the holder's share of it: the caller refuses its client.
  [[nodiscard]] bool try_post(Task task, const Holder& holder = {});
  // For a further step of work that was admitted by try_post(): never refused and not counted, since one
  // admission has one step at a time.
  void post(Task task);

  struct Load {
    std::size_t threads = 0;
    std::size_t busy = 0;
    std::size_t queued = 0;
    std::uint64_t refused = 0;  // since the start
  };
  Load load() const;
  const std::string& name() const { return name_; }

 private:
  struct Queued {
    Task task;
    Holder holder;
    bool is_first;
  };
  void run(const std::stop_token& stop);
  const std::string name_;
  const std::size_t queue_limit_;
  mutable std::mutex mutex_;
  std::condition_variable_any filled_;
  std::deque<Queued> queue_;
  std::size_t first_ = 0;  // of the queue, those that try_post() let in
  Shares shares_;          // of them
  std::size_t busy_ = 0;
  std::uint64_t refused_ = 0;
  std::vector<std::jthread> threads_;  // last: joined before the rest goes
};

}  // namespace dash
