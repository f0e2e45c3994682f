// The rows of the table agent_jobs.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/agent/dashboard/agent_jobs.hpp"
#include "core/db/sql.hpp"

namespace dash::agent {

Result<std::optional<AgentJob>> select_agent_job(db::Transaction& tx, const std::string& id);
// Returns the job if it is this agent's, and Code::conflict with one text otherwise.
Result<AgentJob> own_job(db::Transaction& tx, const Agent& agent, const std::string& id);
// Likewise, and only while it runs.
Result<AgentJob> own_running_job(db::Transaction& tx, const Agent& agent, const std::string& id);
// That text.
Failure not_its_job();

// Seals what an agent is sent or answers with. `place` binds it to its column.
std::string payload_place(const std::string& job_id);
std::string result_place(const std::string& job_id);

}  // namespace dash::agent
