// When the list of agents changed, for GET /api/events.
#pragma once
#include "core/db/sql.hpp"

namespace dash::agent {

// Returns the number of the newest change that the list of agents shows (schema/038_agent_changes.sql); 0 when there
// is none. That an agent was heard of is no change.
Result<std::int64_t> newest_agent_change(db::Sql& sql);

}  // namespace dash::agent
