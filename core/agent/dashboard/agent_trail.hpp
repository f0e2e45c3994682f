// What agents do, in the audit log: the actor is agent:<name>.
#pragma once
#include <string>

#include "core/agent/dashboard/agent.hpp"
#include "core/audit/log.hpp"

namespace dash::agent {

// `target` is the job, or the agent's name.
Result<void> record(db::Transaction& tx, audit::Log& audit, const Agent& agent, std::string action,
                    const std::string& target, OrderedJson details);

// Code::unauthenticated, with the one text of every signature that does not hold.
Failure not_accepted();

}  // namespace dash::agent
