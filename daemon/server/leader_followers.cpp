#include "daemon/server/leader_followers.hpp"

namespace dash::daemon {
namespace {

// A handler has between one and two of them. Most take a tenth of one.
constexpr std::chrono::milliseconds kTick{1};

thread_local bool is_leader = false;
thread_local std::uint64_t own_work = 0;  // the value of `work_` that this thread's handler began with

bool is_under_way(std::uint64_t work) { return work % 2 == 1; }

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
  watcher_needed_.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

// Either this sees that the watcher sleeps, or the watcher sees the work before it sleeps.
bool LeaderFollowers::begin_work(std::size_t spare) {
  if (follower_count_ <= spare) return false;
  own_work = ++work_;
  wait_listener = this;
  if (!is_watcher_asleep_) return true;
  {
    std::lock_guard lock(mutex_);
    is_watcher_asleep_ = false;
  }
  watcher_needed_.notify_one();
  return true;
}

bool LeaderFollowers::end_work() {
  wait_listener = nullptr;
  auto work = own_work;
  if (is_leader) is_leader = work_.compare_exchange_strong(work, work + 1);
  return is_leader;
}

void LeaderFollowers::on_wait() {
  if (!end_work()) return;
  is_leader = false;
  std::lock_guard lock(mutex_);
  has_no_leader_ = true;
  bool others_wait = follower_count_ > (has_watcher_ ? 1 : 0);
  (others_wait ? leader_needed_ : watcher_needed_).notify_one();
}

void LeaderFollowers::serve() {
  std::unique_lock lock(mutex_);
  ++started_count_;
  all_started_.notify_one();
  while (await_lead(lock)) {
    is_leader = true;
    lock.unlock();
    while (is_leader && step_()) {
    }
    lock.lock();
  }
}

bool LeaderFollowers::await_lead(std::unique_lock<std::mutex>& lock) {
  ++follower_count_;
  while (!has_no_leader_ && !stopped_) has_watcher_ ? leader_needed_.wait(lock) : watch(lock);
  --follower_count_;
  has_no_leader_ = false;
  return !stopped_;
}

// Returns when no thread leads. While requests come all the time it never sleeps, and costs no wake-up.
void LeaderFollowers::watch(std::unique_lock<std::mutex>& lock) {
  has_watcher_ = true;
  auto seen = work_.load();
  while (!has_no_leader_ && !stopped_) {
    watcher_needed_.wait_for(lock, kTick);
    auto work = work_.load();
    if (work == seen && !is_under_way(work)) sleep_until_work(lock, seen);
    if (work == seen && is_under_way(work)) has_no_leader_ |= work_.compare_exchange_strong(work, work + 1);
    seen = work_.load();
  }
  has_watcher_ = false;
  leader_needed_.notify_one();  // another one watches from here on
}

void LeaderFollowers::sleep_until_work(std::unique_lock<std::mutex>& lock, std::uint64_t seen) {
  is_watcher_asleep_ = true;
  watcher_needed_.wait(lock,
                       [&] { return !is_watcher_asleep_ || work_ != seen || has_no_leader_ || stopped_; });
  is_watcher_asleep_ = false;
}

}  // namespace dash::daemon
