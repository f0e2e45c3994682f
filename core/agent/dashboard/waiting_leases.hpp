// Leases that wait for a job without holding a thread. A job that this process queues wakes them at once; one
// query each fifth of a second finds those that another process queued, and revoked agents. Without a waiting
// lease there is no query. Thread-safe.
#pragma once
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/base/clock.hpp"
#include "core/db/sql.hpp"

namespace dash::agent {

inline constexpr std::size_t kMaxWaitingLeases = 2000;

class WaitingLeases {
 public:
  WaitingLeases(db::Sql& sql, const Clock& clock) : sql_(sql), clock_(clock) {}
  WaitingLeases(const WaitingLeases&) = delete;
  WaitingLeases& operator=(const WaitingLeases&) = delete;
  ~WaitingLeases();

  using Wake = std::function<void()>;

  // One waiting lease. Entered before the queue is looked at, so that no job is missed.
  class Lease {
   public:
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease();
    // Returns true when there is something to look at. Otherwise calls `wake` once when there is, from any
    // thread. Does not block.
    bool wait(Wake wake);

   private:
    friend class WaitingLeases;
    Lease(std::shared_ptr<WaitingLeases> owner, std::string agent_id);
    const std::shared_ptr<WaitingLeases> owner_;
    const std::string agent_id_;
    bool has_news_ = false;
    Wake wake_;  // empty while nobody waits
  };

  // Returns null when kMaxWaitingLeases wait already.
  static std::unique_ptr<Lease> enter(const std::shared_ptr<WaitingLeases>& owner,
                                      const std::string& agent_id);
  // Wakes the leases of an agent: a job was queued, or it was revoked.
  void notify(const std::string& agent_id);
  std::size_t count() const;

 private:
  void run(const std::stop_token& stop);
  Result<std::vector<std::string>> look();

  db::Sql& sql_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::multimap<std::string, Lease*> leases_;  // by agent
  std::jthread thread_;                        // last: stopped before the other members are destroyed
};

}  // namespace dash::agent
