// Callers that wait for an agent's answer about its share. Each gives its thread's place in a pool to another
// meanwhile, so that an agent that is slow, or many, delay nobody else. They are bounded, since each holds a thread.
// Shared by all shares of a process. Thread-safe.
#pragma once
#include <mutex>

#include "core/base/error.hpp"
#include "core/base/thread_pool.hpp"

namespace dash::agent {

inline constexpr std::size_t kMaxShareCallers = 128;

class ShareCallers {
 public:
  explicit ShareCallers(std::size_t max = kMaxShareCallers) : max_(max) {}

  // Calls `ask`, which returns a Result, as one more caller. Code::busy with retry_after when too many wait.
  template <class Function>
  auto wait(const Function& ask) -> decltype(ask()) {
    TRY(enter());
    Caller caller(*this);
    return ask();
  }

 private:
  // A caller while it lives, on the thread that made it.
  class Caller {
   public:
    explicit Caller(ShareCallers& callers) : callers_(callers) {}
    ~Caller();
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;

   private:
    ShareCallers& callers_;
    ThreadPool::BlockingScope scope_;
  };
  Result<void> enter();
  const std::size_t max_;
  std::mutex mutex_;
  std::size_t waiting_ = 0;
};

}  // namespace dash::agent
