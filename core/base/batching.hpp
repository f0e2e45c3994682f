// Leader and followers: of the threads that come while one works, the first serves all the others at once.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>

namespace dash {

template <class Item>
class Batching {
 public:
  using Batch = std::deque<Item*>;
  // Returns those that wait now; called again, those that came since.
  using Take = std::function<Batch()>;
  // `serve` is called by one thread at a time. It takes once or more, serves all it took, and does not throw.
  explicit Batching(std::function<void(const Take&)> serve) : serve_(std::move(serve)) {}

  // Returns once `item` was served, by this thread or another.
  void run(Item& item) {
    Waiting mine{&item};
    std::unique_lock lock(mutex_);
    queue_.push_back(&mine);
    mine.is_leader = !std::exchange(has_leader_, true);
    mine.wake.wait(lock, [&] { return mine.is_leader || mine.is_done; });
    if (!mine.is_done) lead(lock);
  }

 private:
  struct Waiting {
    Item* item;
    bool is_leader = false, is_done = false;
    // one per thread: only those that were served are woken, and the next leader
    std::condition_variable wake{};
  };

  // Serves all that wait, the leader among them, then makes one that came meanwhile the leader.
  void lead(std::unique_lock<std::mutex>& lock) {
    std::deque<Waiting*> served;
    lock.unlock();
    serve_([&] {
      std::lock_guard taking(mutex_);
      Batch batch;
      for (auto* waiting : queue_) batch.push_back(waiting->item);
      served.insert(served.end(), queue_.begin(), queue_.end());
      queue_.clear();
      return batch;
    });
    lock.lock();
    for (auto* waiting : served) {
      waiting->is_done = true;
      waiting->wake.notify_one();
    }
    has_leader_ = !queue_.empty();
    if (!has_leader_) return;
    queue_.front()->is_leader = true;
    queue_.front()->wake.notify_one();
  }

  const std::function<void(const Take&)> serve_;
  std::mutex mutex_;
  std::deque<Waiting*> queue_;
  bool has_leader_ = false;
};

}  // namespace dash
