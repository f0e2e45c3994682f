#include "core/net/process/nursery.hpp"

#include <future>

namespace dash::net {

Nursery::Nursery() : thread_([this] { run(); }) {}

Nursery::~Nursery() {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
  }
  woken_.notify_all();
  thread_.join();
}

Result<Child> Nursery::start(const Command& command) {
  std::promise<Result<Child>> answer;
  {
    std::lock_guard lock(mutex_);
    tasks_.push_back([&] { answer.set_value(Child::start(command)); });
  }
  woken_.notify_all();
  return answer.get_future().get();
}

void Nursery::run() {
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
