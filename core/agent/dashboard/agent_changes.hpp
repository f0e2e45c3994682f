// When the list of agents changed, for GET /api/events.
#pragma once
#include <optional>

#include "core/base/clock.hpp"
#include "core/db/sql.hpp"

namespace dash::agent {

// Returns the number of the newest change that the list of agents shows (schema/038_agent_changes.sql); 0 when there
// is none. That an agent which is online was heard of is no change.
Result<std::int64_t> newest_agent_change(db::Sql& sql);

// Counts a change that no trigger sees: an agent is online again, or offline.
Result<void> add_agent_change(db::Transaction& tx);

// Counts it as a change when an agent goes offline, which time alone does. One in each replica; for one thread.
class OfflineWatch {
 public:
  OfflineWatch(db::Sql& sql, const Clock& clock) : sql_(sql), clock_(clock) {}

  // Looks for agents that went offline since the last look, at the first one in the hour before.
  Result<void> look();
  // Likewise; the server calls it every second. A failure is logged.
  void tick();

 private:
  db::Sql& sql_;
  const Clock& clock_;
  std::optional<Time> looked_at_;
};

}  // namespace dash::agent
