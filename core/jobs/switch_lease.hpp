// A switch of the active storage backend holds deploys and destroys back: one that began meanwhile would write
// its infrastructure state to the old place. The process that switches holds one row by a lease, and no worker
// of any replica claims such a job while it does. The lease ends when that process dies. Thread-safe.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "core/base/clock.hpp"
#include "core/db/sql.hpp"

namespace dash::jobs {

// How long the lease of a process lives that cannot renew it.
inline constexpr std::chrono::seconds kSwitchLeaseLength{10};

struct BackendSwitch {
  std::string username;
  Time began_at;
};
// Returns the switch that runs now, in any process of the instance.
Result<std::optional<BackendSwitch>> find_backend_switch(db::Transaction& tx, Time now);

class SwitchLease {
 public:
  // Code::conflict while another switch runs.
  static Result<std::unique_ptr<SwitchLease>> take(db::Sql& sql, const Clock& clock,
                                                   const std::string& username);
  ~SwitchLease();
  SwitchLease(const SwitchLease&) = delete;
  SwitchLease& operator=(const SwitchLease&) = delete;

  // Returns whether this process still is the one that switches. A process that stood still for longer than
  // the lease is not.
  Result<bool> is_held(db::Transaction& tx) const;

 private:
  SwitchLease(db::Sql& sql, const Clock& clock);
  void renew();
  db::Sql& sql_;
  const Clock& clock_;
  const std::string owner_;
  std::jthread renewal_;
};

}  // namespace dash::jobs
