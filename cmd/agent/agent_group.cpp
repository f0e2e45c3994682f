#include "cmd/agent/agent_commands.hpp"
#include "cmd/cli/groups.hpp"

namespace dash::cmd {

Group agent_group() {
  std::vector<Action> actions{agent_enroll_action(), agent_run_action(), agent_check_action(),
                              agent_seal_action()};
  for (auto& action : agent_management_actions()) actions.push_back(std::move(action));
  return {"agent", "Remote agents: shares and hosts behind a firewall", std::move(actions)};
}

}  // namespace dash::cmd
