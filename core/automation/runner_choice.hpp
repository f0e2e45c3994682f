// Who carries a run out: ansible in this process's worker, an operator's executable, or a remote agent.
#pragma once
#include <map>
#include <string>

#include "core/config/encrypted_store.hpp"
#include "core/jobs/executor.hpp"

namespace dash::automation {

inline constexpr std::string_view kLocalRunner = "local";
inline constexpr std::string_view kAgentRunner = "agent:";  // and the agent's name

struct RunnerChoice {
  std::string name;        // "local", the name of an executable, or "agent:" and a name
  std::string executable;  // its path; empty: ansible, on this machine
  std::string agent{};     // the name of the remote agent that runs it; empty: none

  bool is_ansible_here() const { return executable.empty() && agent.empty(); }
};

// Returns the agent's name of such a runner, "" of any other.
std::string agent_of_runner(std::string_view name);

// The name that a run has: the one that it gives, else the cloud's (automation_runner_aws, …), else the
// setting automation_runner. `cloud` is canonical or blank.
std::string runner_name(const std::string& given, const std::string& cloud, const config::Values& values);
// Code::conflict, naming what to put where, when the runner is missing or is not safe to run. An operator's
// config-mgmt-run replaces the local one. Whether an agent may run anything is not asked here.
Result<RunnerChoice> choose_runner(const std::string& name, const jobs::Executors& executors);
// Returns key → why nobody here knows the runner, for each setting of a runner among `values` that is no agent.
std::map<std::string, std::string> runner_warnings(const config::Values& values,
                                                   const jobs::Executors& executors);
// Returns key → agent's name, for each setting of a runner among `values` that is an agent.
std::map<std::string, std::string> agent_runners(const config::Values& values);

}  // namespace dash::automation
