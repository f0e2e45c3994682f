#include "core/db/change_watcher.hpp"

#include <utility>

namespace dash::db {
namespace {

constexpr auto kLookInterval = std::chrono::milliseconds(250);

}  // namespace

Result<std::int64_t> newest_change(Transaction& tx) {
  return TRY(tx.query("SELECT number FROM change_head"))[0].integer(0);
}

ChangeWatcher::~ChangeWatcher() {
  thread_.request_stop();
  changed_.notify_all();
}

ChangeWatcher::Follower::Follower(std::shared_ptr<ChangeWatcher> watcher) : watcher_(std::move(watcher)) {
  std::lock_guard lock(watcher_->mutex_);
  watcher_->followers_.insert(this);
  if (!watcher_->thread_.joinable())
    watcher_->thread_ =
        std::jthread([owner = watcher_.get()](const std::stop_token& stop) { owner->run(stop); });
  watcher_->changed_.notify_all();
}

ChangeWatcher::Follower::~Follower() {
  std::lock_guard lock(watcher_->mutex_);
  watcher_->followers_.erase(this);
}

bool ChangeWatcher::Follower::wait(std::int64_t after, Wake wake) {
  std::lock_guard lock(watcher_->mutex_);
  if (watcher_->newest_ > after) return true;
  after_ = after;
  wake_ = std::move(wake);
  return false;
}

void ChangeWatcher::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [this] { return !followers_.empty(); });
      changed_.wait_for(lock, stop, kLookInterval, [] { return false; });
    }
    if (stop.stop_requested()) return;
    // A database that does not answer is asked again; the followers' own reads find out what it says.
    if (auto newest = read<std::int64_t>(sql_, newest_change)) wake_followers(*newest);
  }
}

// The number is smaller than before where an older copy of the database was put in place.
void ChangeWatcher::wake_followers(std::int64_t newest) {
  std::vector<Wake> wakes;
  {
    std::lock_guard lock(mutex_);
    newest_ = newest;
    for (auto* follower : followers_)
      if (follower->wake_ && follower->after_ < newest) wakes.push_back(std::exchange(follower->wake_, {}));
  }
  for (const auto& wake : wakes) wake();
}

}  // namespace dash::db
