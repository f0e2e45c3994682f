#include "core/base/worker_pool.hpp"

#include <utility>

namespace dash {

WorkerPool::WorkerPool(std::string name, std::size_t threads, std::size_t queue_limit, ShareLimits most)
    : name_(std::move(name)), queue_limit_(queue_limit), shares_(most) {
  threads_.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i)
    threads_.emplace_back([this](const std::stop_token& stop) { run(stop); });
}

WorkerPool::~WorkerPool() {
  for (auto& thread : threads_) thread.request_stop();
  threads_.clear();
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
  return {threads_.size(), busy_, queue_.size(), refused_};
}

void WorkerPool::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  // wait() is true while something is queued, also after a stop: what was accepted is done.
  while (filled_.wait(lock, stop, [this] { return !queue_.empty(); })) {
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
}

}  // namespace dash
