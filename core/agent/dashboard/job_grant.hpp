// Whether a job may be queued for an agent that a setting or a request names.
#pragma once
#include <string>
#include <string_view>

#include "core/agent/dashboard/agent.hpp"
#include "core/agent/dashboard/deps.hpp"

namespace dash::agent {

// Finds the agent by its id, or else its name, and checks in this order: remote agents are on, it exists, is not
// revoked, has enrolled, is online, is granted the job type. Code::upstream with a sentence that names it.
Result<Agent> find_granted_agent(const Deps& deps, const std::string& id_or_name, std::string_view job_type);

}  // namespace dash::agent
