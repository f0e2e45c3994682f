#include "core/base/worker_pool.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace dash {
namespace {

thread_local WorkerPool* pool_of_thread = nullptr;
std::atomic<std::size_t> all_blocked = 0;

}  // namespace

WorkerPool::WorkerPool(std::string name, std::size_t threads, std::size_t queue_limit, ShareLimits most)
    : name_(std::move(name)), base_(threads), queue_limit_(queue_limit), shares_(most) {
  std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < threads; ++i) start_thread();
}

WorkerPool::~WorkerPool() {
  std::unique_lock lock(mutex_);
  closing_ = true;
  filled_.notify_all();
  ended_one_.wait(lock, [this] { return running_.empty(); });
  lock.unlock();
  for (auto& thread : ended_) thread.join();
}

bool WorkerPool::try_post(Task task, const Holder& holder) {
  {
    std::lock_guard lock(mutex_);
    if (first_ >= queue_limit_ || !shares_.fits(holder, 1)) {
      ++refused_;
      return false;
    }
    ++first_;
    shares_.add(holder, 1);
    queue_.push_back({std::move(task), holder, true});
  }
  filled_.notify_one();
  return true;
}

void WorkerPool::post(Task task) {
  {
    std::lock_guard lock(mutex_);
    queue_.push_back({std::move(task), {}, false});
  }
  filled_.notify_one();
}

WorkerPool::Load WorkerPool::load() const {
  std::lock_guard lock(mutex_);
  return {running_.size(), busy_, queue_.size(), refused_};
}

std::size_t WorkerPool::blocked() { return all_blocked; }

WorkerPool::Blocked::Blocked() : pool_(pool_of_thread) {
  ++all_blocked;
  if (pool_) pool_->start_stand_in();
}

WorkerPool::Blocked::~Blocked() {
  --all_blocked;
  if (!pool_) return;
  {
    std::lock_guard lock(pool_->mutex_);
    --pool_->blocked_;
  }
  pool_->filled_.notify_all();  // an idle thread is one too many now
}

// Under mutex_.
void WorkerPool::start_thread() {
  auto place = running_.emplace(running_.end());
  *place = std::thread([this, place] { run(place); });
}

void WorkerPool::start_stand_in() {
  std::list<std::thread> ended;
  {
    std::lock_guard lock(mutex_);
    ++blocked_;
    if (!closing_ && running_.size() < base_ + std::min(blocked_, kMaxStandIns)) start_thread();
    ended.swap(ended_);
  }
  for (auto& thread : ended) thread.join();
}

void WorkerPool::run(std::list<std::thread>::iterator place) {
  pool_of_thread = this;
  std::unique_lock lock(mutex_);
  auto is_surplus = [this] { return running_.size() > base_ + blocked_; };
  for (;;) {
    filled_.wait(lock, [&] { return !queue_.empty() || closing_ || is_surplus(); });
    // What was accepted is done, also after the end has begun.
    if (is_surplus() || queue_.empty()) break;
    auto next = std::move(queue_.front());
    queue_.pop_front();
    if (next.is_first) --first_;
    shares_.remove(next.holder, 1);
    ++busy_;
    lock.unlock();
    next.task();
    next.task = nullptr;  // destroyed outside of the lock
    lock.lock();
    --busy_;
  }
  ended_.splice(ended_.end(), running_, place);
  if (!queue_.empty()) filled_.notify_one();  // the wake-up for it may have been this thread's
  ended_one_.notify_all();
}

}  // namespace dash
