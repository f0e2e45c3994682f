// Threads that run blocking work behind a bounded queue: the bound is how the daemon says 503 instead of
// growing. One pool for each thing that can be slow, so that a slow store cannot starve a login. Idle threads
// sleep. No user and no network has more than a share of the queue. Thread-safe.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "core/base/shares.hpp"

namespace dash {

class WorkerPool {
 public:
  using Task = std::function<void()>;  // must not throw

  // So many threads may work for blocked ones at the same time, above the number of the constructor.
  static constexpr std::size_t kMaxStandIns = 256;

  WorkerPool(std::string name, std::size_t threads, std::size_t queue_limit, ShareLimits most = {});
  ~WorkerPool();  // runs what is queued, then joins
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // False when the queue is full, or the holder's share of it: the caller refuses its client.
  [[nodiscard]] bool try_post(Task task, const Holder& holder = {});
  // For a further step of work that was admitted by try_post(): never refused and not counted, since one
  // admission has one step at a time.
  void post(Task task);

  // Held by a task while it waits for something outside that may not answer: a thread stands in for it, so
  // that tasks which need nothing of the kind do not wait. Without effect on a thread that is in no pool.
  class Blocked {
   public:
    Blocked();
    ~Blocked();
    Blocked(const Blocked&) = delete;
    Blocked& operator=(const Blocked&) = delete;

   private:
    WorkerPool* pool_;
  };
  // Tasks that hold a Blocked now, in all pools of the process and outside of them.
  static std::size_t blocked();

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
  void start_thread();
  void start_stand_in();
  void run(std::list<std::thread>::iterator place);
  const std::string name_;
  const std::size_t base_;  // threads that are not blocked
  const std::size_t queue_limit_;
  mutable std::mutex mutex_;
  std::condition_variable filled_, ended_one_;
  std::deque<Queued> queue_;
  std::size_t first_ = 0;  // of the queue, those that try_post() let in
  Shares shares_;          // of them
  std::size_t busy_ = 0, blocked_ = 0;
  std::uint64_t refused_ = 0;
  bool closing_ = false;
  std::list<std::thread> running_, ended_;  // ended_: to be joined
};

}  // namespace dash
