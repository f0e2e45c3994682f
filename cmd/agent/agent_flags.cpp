#include "cmd/agent/agent_commands.hpp"

namespace dash::cmd {

void declare_state_folder(Flags& flags, agent::GivenSettings& given) {
  flags.text("--state-dir", given.state_folder, "DIR",
             "folder of the agent's key; else AGENT_STATE_DIR, else /var/lib/dashboard-agent");
}

void declare_agent_files(Flags& flags, agent::GivenSettings& given) {
  flags.text("--policy-file", given.policy_file, "FILE",
             "what this agent may do; else AGENT_POLICY_FILE, else /etc/dashboard-agent/policy.yaml");
  flags.text("--shares-file", given.shares_file, "FILE",
             "the paths of its shares; else AGENT_SHARES_FILE, else /etc/dashboard-agent/shares.yaml");
}

}  // namespace dash::cmd
