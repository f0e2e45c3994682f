// Carries runs out: the runner of the jobs config-mgmt:run. Ansible runs in a folder of its own, confined, with
// the hosts of a job, or of all jobs of its group; so does a remote agent (agent_run.hpp); an operator's executable
// runs each job by itself. Thread-safe.
#pragma once
#include <string>

#include "core/agent/dashboard/agent_jobs.hpp"
#include "core/automation/hosts.hpp"
#include "core/base/buffer_pool.hpp"
#include "core/config/settings.hpp"
#include "core/jobs/jobs.hpp"
#include "core/jobs/runner.hpp"
#include "core/storage/settings/stores.hpp"

namespace dash::automation {

class AnsibleRuns {
 public:
  struct Deps {
    storage::Stores& stores;
    BufferPool& buffers;
    config::Settings& settings;
    Hosts& hosts;
    const jobs::Executors& executors;
    const jobs::Deps& jobs;
    agent::AgentJobs& agent_jobs;
    std::string data_dir;
    std::string launcher;  // this binary
  };
  explicit AnsibleRuns(Deps deps) : deps_(std::move(deps)) {}

  jobs::RunnerEntry runner();

 private:
  Result<jobs::RunResult> run(const jobs::Job& job, const Json& parameters, jobs::RunControl& control);
  // Adds the host of a run that follows a deploy.
  Result<Json> complete(const jobs::Job& job, const Json& parameters, jobs::RunControl& control);
  Deps deps_;
};

}  // namespace dash::automation
