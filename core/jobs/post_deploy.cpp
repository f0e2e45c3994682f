#include "core/jobs/post_deploy.hpp"

#include <algorithm>
#include <array>

#include "core/base/fields.hpp"
#include "core/base/log.hpp"
#include "core/base/shape.hpp"
#include "core/config/masking.hpp"
#include "core/crypto/hash.hpp"
#include "core/jobs/actions.hpp"
#include "core/jobs/job_rows.hpp"

namespace dash::jobs {
namespace {

constexpr std::string_view kMember = "post_deploy";
constexpr std::string_view kStoredRuns = "post_deploy_runs";  // in the deploy's parameters
constexpr std::array kEntryMembers{"asset",           "asset_backend", "host_output",
                                   "host_key_output", "user",          "variables"};

Failure wrong_entry(std::size_t i, std::string_view why) {
  return wrong_value(kMember, fmt::format("entry {}: {}", i + 1, why));
}

Result<PostDeployEntry> read_post_deploy_entry(const Json& json, std::size_t i) {
  if (!json.is_object()) return wrong_entry(i, "is no object");
  for (const auto& [name, value] : json.items())
    if (std::ranges::find(kEntryMembers, name) == kEntryMembers.end())
      return wrong_entry(
          i, fmt::format("'{}' is no member; there are {}", name, fmt::join(kEntryMembers, ", ")));
  PostDeployEntry out;
  auto read = [&](const char* name, std::string& into) -> Result<void> {
    auto text = text_field(json, name);
    if (!text) return wrong_entry(i, fmt::format("{} is a string", name));
    into = text->value_or("");
    return {};
  };
  TRY(read("asset", out.asset));
  TRY(read("asset_backend", out.asset_backend));
  TRY(read("host_output", out.host_output));
  TRY(read("host_key_output", out.host_key_output));
  TRY(read("user", out.user));
  if (out.asset.empty()) return wrong_entry(i, "asset is missing: the name of what runs");
  if (out.host_output.empty())
    return wrong_entry(i, "host_output is missing: the name of the output with the host's address");
  if (auto it = json.find("variables"); it != json.end() && !it->is_null()) {
    if (!it->is_object()) return wrong_entry(i, "variables is an object");
    out.variables = *it;
  }
  return out;
}

// Values of variables may be secrets: only their names are shown.
Json shown_entry(const PostDeployEntry& entry, const PostDeployRun& run) {
  Json out = {{"asset", entry.asset}, {"host_output", entry.host_output}};
  for (auto member : {"backend", "asset_digest", "asset_etag"})
    if (auto it = run.request.find(member); it != run.request.end()) out[member] = *it;
  if (!entry.host_key_output.empty()) out["host_key_output"] = entry.host_key_output;
  if (!entry.user.empty()) out["user"] = entry.user;
  for (const auto& [name, value] : entry.variables.items()) out["variables"][name] = config::kMask;
  return out;
}

Json after_deploy(const PostDeployEntry& entry) {
  return {
      {"host_output", entry.host_output}, {"host_key_output", entry.host_key_output}, {"user", entry.user}};
}

Job make_run(const Deps& deps, const Job& deploy, const Json& stored) {
  Job job;
  job.id = crypto::uuid4();
  job.action = kAutomationRun;
  job.request = stored.value("request", Json::object());
  job.name = string_member(job.request, "asset").value_or("");
  job.workgroup = string_member(stored, "workgroup");
  job.created_at = deps.clock.now();
  job.created_by = deploy.created_by;
  job.created_by_admin = deploy.created_by_admin;
  return job;
}

Result<std::string> insert_run(const Deps& deps, db::Transaction& tx, const Job& deploy, const Json& stored) {
  auto job = make_run(deps, deploy, stored);
  auto parameters = stored.value("parameters", Json::object());
  parameters[std::string(kAfterDeploy)]["deploy_job_id"] = deploy.id;
  TRY(insert_job(tx, deps.store, job, parameters));
  TRY(set_job_detail(tx, job.id, "deploy_job_id", deploy.id));
  OrderedJson details{
      {"job_id", job.id}, {"deploy_job_id", deploy.id}, {"request", OrderedJson(job.request)}};
  TRY(deps.audit.append(tx, {deploy.created_by, "config_mgmt_run", job.name, std::move(details), "", ""}));
  return job.id;
}

}  // namespace

Result<std::vector<PostDeployEntry>> read_post_deploy(const Json& entries) {
  std::vector<PostDeployEntry> out;
  if (entries.is_null()) return out;
  if (!entries.is_array()) return wrong_type(kMember, "array");
  if (entries.size() > kMaxPostDeployRuns)
    return wrong_value(kMember, fmt::format("holds {} runs at most", kMaxPostDeployRuns));
  for (std::size_t i = 0; i < entries.size(); ++i) out.push_back(TRY(read_post_deploy_entry(entries[i], i)));
  return out;
}

Result<void> add_post_deploy(PostDeployRuns* runs, const Principal& principal,
                             const std::optional<std::string>& workgroup, const Json& entries, Json& request,
                             Json& parameters) {
  for (const auto& entry : TRY(read_post_deploy(entries))) {
    if (!runs) return wrong_value(kMember, "cannot be used here: nothing runs assets");
    auto run = TRY(runs->resolve(principal, workgroup, entry));
    request[std::string(kMember)].push_back(shown_entry(entry, run));
    auto& after = run.parameters[std::string(kAfterDeploy)];
    after = after.is_object() ? after : Json::object();
    after.update(after_deploy(entry));
    Json stored = {{"request", std::move(run.request)}, {"parameters", std::move(run.parameters)}};
    if (run.workgroup) stored["workgroup"] = *run.workgroup;
    parameters[std::string(kStoredRuns)].push_back(std::move(stored));
  }
  return {};
}

Json without_post_deploy(Json parameters) {
  parameters.erase(std::string(kStoredRuns));
  return parameters;
}

Result<void> start_post_deploy(const Deps& deps, db::Transaction& tx, const Job& deploy) {
  auto parameters = open_parameters(deps.store, deploy);
  if (!parameters) {
    log::error("jobs.post_deploy_unreadable", {{"job", deploy.id}, {"error", parameters.error().message}});
    return {};
  }
  auto runs = parameters->find(std::string(kStoredRuns));
  if (runs == parameters->end() || !runs->is_array()) return {};
  auto ids = OrderedJson::array();
  for (const auto& stored : *runs) ids.push_back(TRY(insert_run(deps, tx, deploy, stored)));
  return set_job_detail(tx, deploy.id, "post_deploy_jobs", ids);
}

}  // namespace dash::jobs
