#include "daemon/server/crew.hpp"

namespace dash::daemon {
namespace {

thread_local bool leads = false;

}  // namespace

void Crew::start(std::size_t threads) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
  std::unique_lock lock(mutex_);
  gathered_.wait(lock, [&] { return arrived_ == threads; });
}

void Crew::stop() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  end_();
  vacated_.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

bool Crew::hand_over() {
  {
    std::lock_guard lock(mutex_);
    if (waiting_ == 0) return false;
    vacant_ = true;
    leads = false;
  }
  vacated_.notify_one();
  return true;
}

void Crew::serve() {
  std::unique_lock lock(mutex_);
  ++arrived_;
  gathered_.notify_one();
  for (;;) {
    ++waiting_;
    vacated_.wait(lock, [this] { return vacant_ || stopped_; });
    --waiting_;
    if (stopped_) return;
    vacant_ = false;
    leads = true;
    lock.unlock();
    while (leads && step_()) {
    }
    lock.lock();
  }
}

}  // namespace dash::daemon
