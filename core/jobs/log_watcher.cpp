#include "core/jobs/log_watcher.hpp"

#include <utility>

#include "core/db/each_of.hpp"
#include "core/jobs/job.hpp"

namespace dash::jobs {
namespace {

constexpr auto kLookInterval = std::chrono::milliseconds(250);

}  // namespace

LogWatcher::~LogWatcher() {
  thread_.request_stop();
  changed_.notify_all();
}

LogWatcher::Follower::Follower(std::shared_ptr<LogWatcher> watcher, std::string id)
    : watcher_(std::move(watcher)), id_(std::move(id)) {
  std::lock_guard lock(watcher_->mutex_);
  watcher_->watched_[id_].followers.insert(this);
  if (!watcher_->thread_.joinable())
    watcher_->thread_ =
        std::jthread([owner = watcher_.get()](const std::stop_token& stop) { owner->run(stop); });
  watcher_->changed_.notify_all();
}

LogWatcher::Follower::~Follower() {
  std::lock_guard lock(watcher_->mutex_);
  auto found = watcher_->watched_.find(id_);
  found->second.followers.erase(this);
  if (found->second.followers.empty()) watcher_->watched_.erase(found);
}

bool LogWatcher::Follower::wait(std::int64_t after, Wake wake) {
  std::lock_guard lock(watcher_->mutex_);
  if (watcher_->watched_.at(id_).has_news(after)) return true;
  after_ = after;
  wake_ = std::move(wake);
  return false;
}

void LogWatcher::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [this] { return !watched_.empty(); });
      changed_.wait_for(lock, stop, kLookInterval, [] { return false; });
    }
    if (stop.stop_requested()) return;
    // A database that does not answer is asked again; the followers' own reads find out what it says.
    if (auto changes = look(watched_ids())) wake_followers(*changes);
  }
}

std::vector<std::string> LogWatcher::watched_ids() {
  std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (const auto& [id, watched] : watched_) out.push_back(id);
  return out;
}

// The state is read before the number of the last line is, in the order of the columns: an ended job has no
// later lines.
Result<LogWatcher::Changes> LogWatcher::look(const std::vector<std::string>& ids) {
  Changes out;
  for (const auto& id : ids) out[id].is_over = true;  // unless a job of it still runs
  TRY(sql_.read([&](db::Transaction& tx) {
    return db::each_of(
        tx, R"(SELECT id, coalesce(batch_id, ''), state, (SELECT max(n) FROM job_logs WHERE job_id = jobs.id)
               FROM jobs WHERE id IN ({0}) OR batch_id IN ({0}))",
        {}, ids, [&](const db::Row& row) -> Result<void> {
          auto state = parse_state(row.text(2));
          bool is_over = !state || is_final(*state);
          if (auto job = out.find(row.text(0)); job != out.end())
            job->second.is_over = is_over, job->second.last_line = row.integer_or(3, 0);
          if (auto batch = out.find(row.text(1)); batch != out.end()) batch->second.is_over &= is_over;
          return {};
        });
  }));
  return out;
}

void LogWatcher::wake_followers(const Changes& changes) {
  std::vector<Wake> wakes;
  {
    std::lock_guard lock(mutex_);
    for (auto& [id, watched] : watched_) {
      auto change = changes.find(id);
      if (change == changes.end()) continue;
      watched.is_over = change->second.is_over;
      watched.last_line = change->second.last_line;
      for (auto* follower : watched.followers)
        if (follower->wake_ && watched.has_news(follower->after_))
          wakes.push_back(std::exchange(follower->wake_, {}));
    }
  }
  for (const auto& wake : wakes) wake();
}

}  // namespace dash::jobs
