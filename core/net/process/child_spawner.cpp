#include "core/net/process/child_spawner.hpp"

#include <future>

namespace dash::net {

ChildSpawner::ChildSpawner() : thread_([this] { run(); }) {}

ChildSpawner::~ChildSpawner() {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
  }
  woken_.notify_all();
  thread_.join();
}

Result<Child> ChildSpawner::start(const Command& command) {
  std::promise<Result<Child>> answer;
  {
    std::lock_guard lock(mutex_);
    tasks_.push_back([&] { answer.set_value(Child::start(command)); });
  }
  woken_.notify_all();
  return answer.get_future().get();
}

void ChildSpawner::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    woken_.wait(lock, [&] { return closing_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    auto task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

}  // namespace dash::net
