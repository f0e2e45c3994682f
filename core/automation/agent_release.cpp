#include "core/automation/agent_release.hpp"

#include <algorithm>

#include "core/agent/protocol/automation_job.hpp"
#include "core/automation/run_input.hpp"
#include "core/jobs/job_rows.hpp"

namespace dash::automation {
namespace {

std::string member(const Json& object, std::string_view name) {
  return string_member(object, name).value_or("");
}

Failure no_asset() {
  return fail(Code::conflict, "the job is no run of this agent, or its asset was changed since it began");
}

// The run's own job must still run: it may have been given up while the agent's job was not yet cancelled.
Result<Json> parameters_of(db::Transaction& tx, const config::EncryptedStore& config, const std::string& id) {
  auto job = TRY(jobs::find_job(tx, id));
  if (!job || job->state != jobs::State::running || job->cancel_requested)
    return fail(Code::conflict, "the run of this job is over; nothing was released");
  return jobs::open_parameters(config, *job);
}

std::vector<std::string> run_ids(const agent::AgentJob& job) {
  auto ids = job.summary.find("job_ids");
  if (ids == job.summary.end() || !ids->is_array()) return {};
  return ids->get<std::vector<std::string>>();
}

Failure not_of_this_run() {
  return fail(Code::conflict, "the run has no host of that name with a secret; nothing was released");
}

Result<Secret> host_secret(db::Transaction& tx, const config::EncryptedStore& config,
                           const agent::AgentJob& job, const std::string& name) {
  for (const auto& id : run_ids(job))
    for (auto& host : TRY(hosts_of_parameters(TRY(parameters_of(tx, config, id)))))
      if (host.name == name && !host.secret.empty()) return std::move(host.secret);
  return not_of_this_run();
}

Result<Secret> secret_variables(db::Transaction& tx, const config::EncryptedStore& config,
                                const agent::AgentJob& job) {
  auto ids = run_ids(job);
  if (ids.empty()) return not_of_this_run();
  auto variables = object_member(TRY(parameters_of(tx, config, ids.front())), "secret_vars");
  if (variables.empty()) return fail(Code::conflict, "the run has no secret variables; nothing was released");
  return Secret(dump_json(variables));
}

}  // namespace

std::string asset_changed(const std::string& asset) {
  return fmt::format("'{}' was changed or removed after this run was requested; request it again", asset);
}

Result<std::optional<RunAsset>> find_run_asset(storage::Stores& stores, const jobs::Job& job) {
  auto at = TRY(stores.open(local_operator(), member(job.request, "backend")));
  auto object = at.store->head(at.key_of(member(job.request, "asset")));
  if (!object && object.error().code == Code::not_found) return std::nullopt;
  if (!object) return Failure(object.error());
  auto digest = member(job.request, "asset_digest");
  if (object->etag != member(job.request, "asset_etag") && digest.empty()) return std::nullopt;
  return RunAsset{*std::move(object), std::move(digest), at.store};
}

Json release_summary(const std::vector<std::string>& job_ids, const jobs::Job& leader,
                     const RunAsset& asset) {
  return {{"job_ids", job_ids},
          {"asset", member(leader.request, "asset")},
          {"backend", member(leader.request, "backend")},
          {"asset_etag", asset.object.etag}};
}

Result<storage::FindResult> find_released_asset(agent::AgentJobs& jobs, storage::Stores& stores,
                                                const agent::Agent& agent, const std::string& job_id) {
  auto job = TRY(jobs.running_job(agent, job_id));
  if (job.job_type != agent::kAutomationJobType) return no_asset();
  auto at = TRY(stores.open(local_operator(), member(job.summary, "backend")));
  storage::FindResult found;
  found.asset.name = member(job.summary, "asset");
  found.key = at.key_of(found.asset.name);
  found.store = at.store;
  auto object = at.store->head(found.key);
  if (!object && object.error().code == Code::not_found) return no_asset();
  found.object = TRY(std::move(object));
  if (found.object.etag != member(job.summary, "asset_etag")) return no_asset();
  return found;
}

agent::SecretSource run_secret_source(config::EncryptedStore& config) {
  agent::SecretSource source{"agent.host_secret", "host", {}, {}};
  source.check = [](db::Transaction&, const agent::Agent&, const agent::AgentJob& job,
                    const std::string&) -> Result<void> {
    if (run_ids(job).empty()) return not_of_this_run();
    return {};
  };
  source.read = [&config](db::Transaction& tx, const agent::AgentJob& job,
                          const std::string& ref) -> Result<Secret> {
    if (ref == agent::kSecretVariablesRef) return secret_variables(tx, config, job);
    return host_secret(tx, config, job, ref);
  };
  return source;
}

}  // namespace dash::automation
