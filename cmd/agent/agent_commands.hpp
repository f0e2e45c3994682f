// The actions of `dashctl agent`.
#pragma once
#include <vector>

#include "cmd/cli/tree.hpp"
#include "core/agent/remote/settings.hpp"

namespace dash::cmd {

// Of the operator: which agents there are, and what they may do.
std::vector<Action> agent_management_actions();

// Of the agent itself, where it runs.
Action agent_enroll_action();
Action agent_run_action();
Action agent_check_action();
Action agent_seal_action();

// Flags that those share.
void declare_state_folder(Flags& flags, agent::GivenSettings& given);
void declare_agent_files(Flags& flags, agent::GivenSettings& given);

}  // namespace dash::cmd
