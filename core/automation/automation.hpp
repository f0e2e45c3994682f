// Runs of assets against hosts (POST /api/config-mgmt/run, run-bulk, compose-deploy). A run is a job of the
// action config-mgmt:run, which no rule gates; ansible_runs.hpp does its work. A user who may read an asset may
// run it, on hosts that he may use. This is checked when the run is requested: queued jobs still run. The job
// keeps the asset's etag and digest. Thread-safe.
#pragma once
#include <string>
#include <vector>

#include "core/agent/dashboard/deps.hpp"
#include "core/audit/log.hpp"
#include "core/automation/hosts.hpp"
#include "core/automation/run_request.hpp"
#include "core/automation/runner_choice.hpp"
#include "core/base/principal.hpp"
#include "core/config/encrypted_store.hpp"
#include "core/jobs/jobs.hpp"
#include "core/storage/assets/assets.hpp"

namespace dash::automation {

struct BulkRunResult {
  std::string batch_id, kind;
  std::vector<jobs::Job> jobs;
};
// {job_id, status}
OrderedJson run_to_json(const jobs::Job&);
// {batch_id, kind, count, jobs: [{inventory_id, target, name, job_id}], failed: []}
OrderedJson to_json(const BulkRunResult&);

class Automation {
 public:
  struct Deps {
    storage::Stores& stores;
    storage::Assets& assets;
    Hosts& hosts;
    config::EncryptedStore& config;
    config::Settings& settings;
    db::Sql& sql;
    audit::Log& audit;
    const Clock& clock;
    jobs::Jobs& jobs;
    const jobs::Executors& executors;
    agent::Deps agents;
    std::string data_dir;
  };
  explicit Automation(Deps deps) : deps_(std::move(deps)) {}

  // Starts a run: one job for all of its hosts. Errors, in the order in which they are looked for:
  // Code::conflict while no storage is active; Code::validation for a body of another shape; Code::not_found for
  // an asset or a host that the caller may not use; Code::forbidden for a workgroup of others; Code::conflict
  // while automation is off; Code::invalid for anything else that cannot be; Code::conflict for a runner that is
  // missing.
  Result<jobs::Job> run(const Principal& principal, const Json& body);
  // Starts a run of a compose file on its hosts, as run().
  Result<jobs::Job> deploy_compose(const Principal& principal, const Json& body);
  // Starts a batch with one job for each host, all or none. One ansible process runs all of them.
  Result<BulkRunResult> run_bulk(const Principal& principal, const Json& body);
  // Returns the playbook that a run runs or ran: {job_id, asset, generated, playbook}. That of an asset which is
  // a playbook itself is read for users who may read the asset. Code::conflict when it was changed since.
  Result<OrderedJson> playbook(const Principal& principal, const std::string& job_id);
  // Returns key → why no runner of that name is known here, for each setting of a runner among `values`.
  std::map<std::string, std::string> runner_warnings(const config::Values& values);
  // Returns the names of the active backend's playbooks.
  Result<std::vector<std::string>> playbooks(const Principal& principal);

 private:
  struct Draft {
    RunRequest request;
    jobs::Job job;
    RunnerChoice runner;
    std::vector<Host> hosts;
    Json parameters;  // without hosts
  };
  Result<Draft> draft(const Principal& principal, const Json& body, RunKind kind);
  Result<void> check_usable(Draft& draft, const Principal& principal, const storage::FindResult& found,
                            RunKind kind, const config::Values& values);
  Result<void> check_agent_runner(const std::string& name);
  Result<void> enqueue(const Principal& principal, std::vector<jobs::Job>& jobs,
                       const std::vector<Json>& parameters, const std::string& group);
  Result<jobs::Job> run_one(const Principal& principal, const Json& body, RunKind kind);
  Deps deps_;
};

}  // namespace dash::automation
