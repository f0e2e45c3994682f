// What a remote agent may ask for while it carries a run out: the asset, the secrets of the hosts and the secret
// variables. Which they are stands in the summary of the agent's job; the secrets stay in the sealed parameters of
// the run's own jobs.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/agent/dashboard/agent_jobs.hpp"
#include "core/agent/dashboard/job_secrets.hpp"
#include "core/config/encrypted_store.hpp"
#include "core/jobs/job.hpp"
#include "core/storage/assets/assets.hpp"
#include "core/storage/settings/stores.hpp"

namespace dash::automation {

// The asset of a run, as it is now.
struct RunAsset {
  storage::Object object;
  std::string digest;  // empty: not known
  std::shared_ptr<storage::ObjectStore> store;
};

// Returns the asset that the job's request names; nullopt when it is gone, or was changed since the run was
// requested as far as its etag or digest shows.
Result<std::optional<RunAsset>> find_run_asset(storage::Stores& stores, const jobs::Job& job);
// The sentence for that.
std::string asset_changed(const std::string& asset);

// The summary of an agent's job that carries out the run of these jobs, the leader first.
Json release_summary(const std::vector<std::string>& job_ids, const jobs::Job& leader, const RunAsset& asset);

// Finds the asset for POST /api/agent/jobs/{id}/asset: the very bytes that the run was given. Code::conflict when
// the job is not a running one of this agent, is no run, or the asset was changed meanwhile.
Result<storage::FindResult> find_released_asset(agent::AgentJobs& jobs, storage::Stores& stores,
                                                const agent::Agent& agent, const std::string& job_id);

// The secrets of hosts, by their names, and agent::kSecretVariablesRef, while the run's own job runs.
agent::SecretSource run_secret_source(config::EncryptedStore& config);

}  // namespace dash::automation
