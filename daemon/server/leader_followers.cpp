#include "daemon/server/leader_followers.hpp"

namespace dash::daemon {
namespace {

thread_local bool is_leader = false;

}  // namespace

void LeaderFollowers::start(std::size_t threads) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
  std::unique_lock lock(mutex_);
  all_started_.wait(lock, [&] { return started_count_ == threads; });
}

void LeaderFollowers::stop() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  end_();
  leader_needed_.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

bool LeaderFollowers::promote_follower() {
  {
    std::lock_guard lock(mutex_);
    if (follower_count_ == 0) return false;
    has_no_leader_ = true;
    is_leader = false;
  }
  leader_needed_.notify_one();
  return true;
}

void LeaderFollowers::serve() {
  std::unique_lock lock(mutex_);
  ++started_count_;
  all_started_.notify_one();
  for (;;) {
    ++follower_count_;
    leader_needed_.wait(lock, [this] { return has_no_leader_ || stopped_; });
    --follower_count_;
    if (stopped_) return;
    has_no_leader_ = false;
    is_leader = true;
    lock.unlock();
    while (is_leader && step_()) {
    }
    lock.lock();
  }
}

}  // namespace dash::daemon
