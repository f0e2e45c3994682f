// Threads that run blocking work behind a bounded queue. At the bound the daemon answers 503 instead of
// growing. Each dependency that can be slow has its own pool, so that a slow store cannot starve a login.
// Idle threads sleep. No user and no network gets more than a share of the queue. Thread-safe.
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

class ThreadPool {
 public:
  using Task = std::function<void()>;  // must not throw

  // At most this many threads, above the number of the constructor, replace blocked ones at the same time.
  static constexpr std::size_t kMaxExtraThreads = 256;

  ThreadPool(std::string name, std::size_t threads, std::size_t queue_limit, ShareLimits share_limits = {});
  ~ThreadPool();  // runs what is queued, then joins
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Returns false when the queue is full, or the holder's share of it. The caller then refuses its client.
  [[nodiscard]] bool try_post(Task task, const Holder& holder = {});
  // Posts a further step of work that try_post() admitted. It is never refused and not counted, because one
  // admission has one step at a time.
  void post(Task task);

  // A task holds it while it waits for something outside that may not answer. Another thread replaces it
  // meanwhile, so that tasks without such a wait are not delayed. No effect on a thread that is in no pool.
  class BlockingScope {
   public:
    BlockingScope();
    ~BlockingScope();
    BlockingScope(const BlockingScope&) = delete;
    BlockingScope& operator=(const BlockingScope&) = delete;

   private:
    ThreadPool* pool_;
  };
  // Tasks that hold a BlockingScope now, in all pools of the process and outside of them.
  static std::size_t blocked_count();

  struct Load {
    std::size_t threads = 0;
    std::size_t busy = 0;
    std::size_t queued = 0;
    std::uint64_t refused = 0;  // since the start
  };
  Load load() const;
  const std::string& name() const { return name_; }

 private:
  struct QueuedTask {
    Task task;
    Holder holder;
    bool is_admission;
  };
  void start_thread();
  void start_extra_thread();
  void run(std::list<std::thread>::iterator position);
  const std::string name_;
  const std::size_t thread_count_;  // threads that are not blocked
  const std::size_t queue_limit_;
  mutable std::mutex mutex_;
  std::condition_variable work_available_, thread_exited_;
  std::deque<QueuedTask> queue_;
  std::size_t admissions_ = 0;  // tasks of the queue that try_post() admitted
  Shares shares_;               // of those admissions
  std::size_t busy_ = 0, blocked_ = 0;
  std::uint64_t refused_ = 0;
  bool closing_ = false;
  std::list<std::thread> threads_, exited_;  // exited_: to be joined
};

}  // namespace dash
