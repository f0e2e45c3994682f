// Wakes those who follow the changes that lists show (schema/037_changes.sql). One thread asks the database for
// the number of the newest change each quarter of a second, whichever replica made it; without a waiting
// follower it sleeps. Thread-safe.
#pragma once
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "core/db/sql.hpp"

namespace dash::db {

// Returns the number of the newest change.
Result<std::int64_t> newest_change(Transaction& tx);

class ChangeWatcher {
 public:
  explicit ChangeWatcher(Sql& sql) : sql_(sql) {}
  ChangeWatcher(const ChangeWatcher&) = delete;
  ChangeWatcher& operator=(const ChangeWatcher&) = delete;
  ~ChangeWatcher();

  using Wake = std::function<void()>;

  class Follower {
   public:
    explicit Follower(std::shared_ptr<ChangeWatcher> watcher);
    Follower(const Follower&) = delete;
    Follower& operator=(const Follower&) = delete;
    ~Follower();
    // Returns true when a change after number `after` is known. Otherwise calls `wake` once, from the watcher's
    // thread, when there is one. Does not block.
    bool wait(std::int64_t after, Wake wake);

   private:
    friend class ChangeWatcher;
    const std::shared_ptr<ChangeWatcher> watcher_;
    std::int64_t after_ = 0;
    Wake wake_;  // empty while nobody waits
  };

 private:
  void run(const std::stop_token& stop);
  void wake_followers(std::int64_t newest);

  Sql& sql_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::int64_t newest_ = 0;
  std::set<Follower*> followers_;
  std::jthread thread_;  // last: stopped before the other members are destroyed
};

}  // namespace dash::db
