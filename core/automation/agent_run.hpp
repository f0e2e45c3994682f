// A run that a remote agent carries out (`runner: agent:<name>`), on hosts that only it reaches. It is one job of
// the agent, for all jobs of a group. The agent fetches the asset and the secrets by requests of their own
// (agent_release.hpp), so that the job carries neither.
#pragma once
#include <string>

#include "core/agent/dashboard/agent_jobs.hpp"
#include "core/base/buffer_pool.hpp"
#include "core/config/settings.hpp"
#include "core/jobs/group_run.hpp"
#include "core/jobs/jobs.hpp"
#include "core/storage/settings/stores.hpp"

namespace dash::automation {

struct AgentRunDeps {
  agent::AgentJobs& agents;
  storage::Stores& stores;
  BufferPool& buffers;
  config::Settings& settings;
  const jobs::Deps& jobs;
};

struct RunningGroup {
  const jobs::Job& job;  // the leader
  const Json& parameters;
  jobs::RunControl& control;
  jobs::GroupRun& group;
};

// Waits for the agent's job: its log lines go into the jobs' logs, a cancellation to the agent. Ends the jobs of
// the group and returns the result of the leader.
Result<jobs::RunResult> run_by_agent(const AgentRunDeps& deps, const std::string& agent_name,
                                     const RunningGroup& running);

}  // namespace dash::automation
