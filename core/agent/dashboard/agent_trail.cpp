#include "core/agent/dashboard/agent_trail.hpp"

namespace dash::agent {

Result<void> record(db::Transaction& tx, audit::Log& audit, const Agent& agent, std::string action,
                    const std::string& target, OrderedJson details) {
  details["agent_id"] = agent.id;
  audit::Event event{"agent:" + agent.name, std::move(action),  target,
                     std::move(details),    agent.last_seen_ip, ""};
  TRY(audit.append(tx, event));
  return {};
}

Failure not_accepted() { return fail(Code::unauthenticated, "The agent's signature was not accepted."); }

}  // namespace dash::agent
