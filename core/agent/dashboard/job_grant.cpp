#include "core/agent/dashboard/job_grant.hpp"

#include "core/agent/dashboard/agent_rows.hpp"
#include "core/base/utf8.hpp"

namespace dash::agent {

Result<Agent> find_granted_agent(const Deps& deps, const std::string& id_or_name, std::string_view job_type) {
  if (!TRY(are_agents_enabled(deps.settings)))
    return fail(Code::upstream,
                "the agent '{}' cannot be asked: remote agents are switched off; an administrator turns "
                "remote_agents_enabled on",
                escape_controls(id_or_name, ""));
  auto agent = TRY(db::read<std::optional<Agent>>(
      deps.sql, [&](db::Transaction& tx) { return select_agent_named(tx, id_or_name); }));
  if (!agent)
    return fail(Code::upstream, "the agent '{}' is not known to this dashboard",
                escape_controls(id_or_name, ""));
  TRY(check_ready(*agent, job_type, deps.clock.now()));
  return *std::move(agent);
}

}  // namespace dash::agent
