// The rows of the table agents.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/agent/dashboard/agent.hpp"
#include "core/db/sql.hpp"

namespace dash::agent {

Result<std::vector<Agent>> select_agents(db::Transaction& tx);  // by name
Result<std::optional<Agent>> select_agent(db::Transaction& tx, const std::string& id);
// By id, or else by name.
Result<std::optional<Agent>> select_agent_named(db::Transaction& tx, const std::string& id_or_name);
// Returns the agent whose unused code has this hash, expired or not.
Result<std::optional<Agent>> select_agent_by_code(db::Transaction& tx, const std::string& code_hash);

// Returns false when the name is taken.
Result<bool> insert_agent(db::Transaction& tx, const Agent& agent);
// Writes site, description and grants.
Result<void> update_agent(db::Transaction& tx, const Agent& agent);
Result<void> update_agent_code(db::Transaction& tx, const std::string& id, const std::string& code_hash,
                               Time expires_at);

}  // namespace dash::agent
