#include "core/base/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "core/base/before_wait.hpp"

namespace dash {
namespace {

thread_local ThreadPool* current_pool = nullptr;
std::atomic<std::size_t> total_blocked = 0;

}  // namespace

ThreadPool::ThreadPool(std::string name, std::size_t threads, std::size_t queue_limit,
                       ShareLimits share_limits)
    : name_(std::move(name)), thread_count_(threads), queue_limit_(queue_limit), shares_(share_limits) {
  std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < threads; ++i) start_thread();
}

ThreadPool::~ThreadPool() {
  std::unique_lock lock(mutex_);
  closing_ = true;
  work_available_.notify_all();
  thread_exited_.wait(lock, [this] { return threads_.empty(); });
  lock.unlock();
  for (auto& thread : exited_) thread.join();
}

bool ThreadPool::try_post(Task task, const Holder& holder) {
  {
    std::lock_guard lock(mutex_);
    if (admissions_ >= queue_limit_ || !shares_.fits(holder, 1)) {
      ++refused_;
      return false;
    }
    ++admissions_;
    shares_.add(holder, 1);
    queue_.push_back({std::move(task), holder, true});
  }
  work_available_.notify_one();
  return true;
}

void ThreadPool::post(Task task) {
  {
    std::lock_guard lock(mutex_);
    queue_.push_back({std::move(task), {}, false});
  }
  work_available_.notify_one();
}

ThreadPool::Load ThreadPool::load() const {
  std::lock_guard lock(mutex_);
  return {threads_.size(), busy_, queue_.size(), refused_};
}

std::size_t ThreadPool::blocked_count() { return total_blocked; }

ThreadPool::BlockingScope::BlockingScope() : pool_(current_pool) {
  before_wait();
  ++total_blocked;
  if (pool_) pool_->start_extra_thread();
}

ThreadPool::BlockingScope::~BlockingScope() {
  --total_blocked;
  if (!pool_) return;
  {
    std::lock_guard lock(pool_->mutex_);
    --pool_->blocked_;
  }
  pool_->work_available_.notify_all();  // an idle thread is superfluous now
}

// Called under mutex_.
void ThreadPool::start_thread() {
  auto position = threads_.emplace(threads_.end());
  *position = std::thread([this, position] { run(position); });
}

void ThreadPool::start_extra_thread() {
  std::list<std::thread> exited;
  {
    std::lock_guard lock(mutex_);
    ++blocked_;
    if (!closing_ && threads_.size() < thread_count_ + std::min(blocked_, kMaxExtraThreads)) start_thread();
    exited.swap(exited_);
  }
  for (auto& thread : exited) thread.join();
}

void ThreadPool::run(std::list<std::thread>::iterator position) {
  current_pool = this;
  std::unique_lock lock(mutex_);
  auto is_surplus = [this] { return threads_.size() > thread_count_ + blocked_; };
  for (;;) {
    work_available_.wait(lock, [&] { return !queue_.empty() || closing_ || is_surplus(); });
    // Accepted tasks run, also after the end has begun.
    if (is_surplus() || queue_.empty()) break;
    auto next = std::move(queue_.front());
    queue_.pop_front();
    if (next.is_admission) --admissions_;
    shares_.remove(next.holder, 1);
    ++busy_;
    lock.unlock();
    next.task();
    next.task = nullptr;  // destroyed outside of the lock
    lock.lock();
    --busy_;
  }
  exited_.splice(exited_.end(), threads_, position);
  if (!queue_.empty()) work_available_.notify_one();  // the wake-up for it may have gone to this thread
  thread_exited_.notify_all();
}

}  // namespace dash
