// Wakes those who follow the logs of jobs. One thread asks the database about all followed jobs with one query
// each quarter of a second, whichever replica runs them; without a follower it sleeps. Thread-safe.
#pragma once
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "core/db/sql.hpp"

namespace dash::jobs {

class LogWatcher {
 public:
  explicit LogWatcher(db::Sql& sql) : sql_(sql) {}
  LogWatcher(const LogWatcher&) = delete;
  LogWatcher& operator=(const LogWatcher&) = delete;
  ~LogWatcher();

  using Wake = std::function<void()>;

  // One follower of a job or of a batch.
  class Follower {
   public:
    Follower(std::shared_ptr<LogWatcher> watcher, std::string id);
    Follower(const Follower&) = delete;
    Follower& operator=(const Follower&) = delete;
    ~Follower();
    // Returns true when there are lines after number `after`, or the job has ended or is gone. Otherwise calls
    // `wake` once, from the watcher's thread, when that is so. Does not block.
    bool wait(std::int64_t after, Wake wake);

   private:
    friend class LogWatcher;
    const std::shared_ptr<LogWatcher> watcher_;
    const std::string id_;
    std::int64_t after_ = 0;
    Wake wake_;  // empty while nobody waits
  };

 private:
  struct Watched {
    std::int64_t last_line = 0;
    bool is_over = false;
    std::set<Follower*> followers;
    bool has_news(std::int64_t after) const { return is_over || last_line > after; }
  };
  using Changes = std::map<std::string, Watched>;

  void run(const std::stop_token& stop);
  std::vector<std::string> watched_ids();
  Result<Changes> look(const std::vector<std::string>& ids);
  void wake_followers(const Changes& changes);

  db::Sql& sql_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::string, Watched> watched_;
  std::jthread thread_;  // last: stopped before the other members are destroyed
};

}  // namespace dash::jobs
