#include "core/automation/automation.hpp"

#include "core/base/shape.hpp"
#include "core/base/text.hpp"
#include "core/crypto/hash.hpp"
#include "core/jobs/actions.hpp"
#include "core/jobs/job_rows.hpp"
#include "core/storage/store/names.hpp"
#include "core/windows/workgroups.hpp"

namespace dash::automation {
namespace {

// Members that name what runs and where; they are shown with the job. The other members may be secret.
constexpr std::array kShownMembers{"target", "target_kind", "target_id", "cloud", "agent_id", "transport"};

Result<std::string> text_of(const Json& body, std::string_view name) {
  auto it = body.find(name);
  if (it == body.end() || it->is_null()) return std::string();
  if (!it->is_string()) return wrong_type(name, "string");
  return it->get<std::string>();
}

Result<std::string> required_text(const Json& body, std::string_view name) {
  if (!body.contains(name)) return missing_member(name);
  auto text = TRY(text_of(body, name));
  if (text.empty()) return wrong_value(name, "must not be empty");
  return text;
}

// Only a runner on this machine can read a folder or share of it.
Result<void> check_reachable(const storage::OpenBackend& at, const config::Values& values,
                             const std::string& cloud) {
  if (at.descriptor->is_object_store || at.descriptor->id == "agent_local") return {};
  if (storage::automation_runner(values) == "local" && cloud.empty()) return {};
  return fail(Code::invalid, "an asset on '{}' cannot be run in a cloud; move it to an object store",
              at.display_id());
}

Result<std::vector<std::string>> read_inventory_ids(const Json& body) {
  auto it = body.find("inventory_ids");
  if (it == body.end()) return missing_member("inventory_ids");
  if (!it->is_array()) return wrong_type("inventory_ids", "array");
  std::vector<std::string> ids;
  for (const auto& id : *it) {
    if (!id.is_string() && !id.is_number_integer()) return wrong_type("inventory_ids", "string");
    ids.push_back(id.is_string() ? id.get<std::string>() : dump_json(id));
  }
  if (ids.empty() || ids.size() > kMaxBulkRuns)
    return fail(Code::invalid, "choose 1 to {} targets; {} were sent", kMaxBulkRuns, ids.size());
  return ids;
}

}  // namespace

Result<jobs::Job> Automation::make_job(const Principal& principal, const Json& body) {
  auto asset = TRY(required_text(body, "asset"));
  auto found = TRY(deps_.assets.find(principal, TRY(text_of(body, "asset_backend")), asset));
  auto type = storage::asset_type(asset);
  if (!type)
    return fail(Code::invalid, "'{}' cannot be run; runnable are {}", asset, storage::kAllowedExtensions);
  auto at = TRY(deps_.stores.open(principal, found.asset.backend));
  TRY(check_reachable(at, TRY(deps_.stores.settings())->values(), TRY(text_of(body, "cloud"))));
  auto workgroup = lower(trim(TRY(text_of(body, "workgroup"))));
  if (!workgroup.empty()) {
    TRY(deps_.sql.read(
        [&](db::Transaction& tx) { return windows::check_workgroup(tx, principal, workgroup); }));
    if (found.asset.workgroup && *found.asset.workgroup != workgroup) return storage::asset_not_found(asset);
  }
  jobs::Job job;
  job.action = jobs::kAutomationRun;
  job.name = asset;
  job.workgroup = workgroup.empty() ? found.asset.workgroup : storage::AssetScope(workgroup);
  job.request = {{"asset", asset}, {"backend", at.display_id()}, {"type", *type}};
  for (auto member : kShownMembers)
    if (auto it = body.find(member); it != body.end()) job.request[member] = *it;
  job.created_at = deps_.clock.now();
  job.created_by = principal.username;
  job.created_by_admin = principal.is_admin;
  return job;
}

Result<void> Automation::enqueue(const Principal& principal, std::vector<jobs::Job>& jobs,
                                 const Json& parameters) {
  return deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    for (auto& job : jobs) {
      job.id = crypto::uuid4();
      TRY(jobs::insert_job(tx, deps_.config, job, parameters));
      OrderedJson details{{"job_id", job.id}, {"request", OrderedJson(job.request)}};
      TRY(deps_.audit.append(tx,
                             audit::make_event(principal, "config_mgmt_run", job.name, std::move(details))));
    }
    return {};
  });
}

Result<jobs::Job> Automation::run(const Principal& principal, const Json& body) {
  std::vector<jobs::Job> jobs{TRY(make_job(principal, body))};
  TRY(enqueue(principal, jobs, body));
  return std::move(jobs.front());
}

Result<BulkRunResult> Automation::run_bulk(const Principal& principal, const Json& body) {
  auto job = TRY(make_job(principal, body));
  auto ids = TRY(read_inventory_ids(body));
  BulkRunResult bulk{crypto::random_hex(6), job.request["type"], {}};
  job.batch_id = bulk.batch_id;
  for (const auto& id : ids) {
    job.request["inventory_id"] = id;
    bulk.jobs.push_back(job);
  }
  auto parameters = body;
  parameters.erase("inventory_ids");
  TRY(enqueue(principal, bulk.jobs, parameters));
  return bulk;
}

Result<std::vector<std::string>> Automation::playbooks(const Principal& principal) {
  std::vector<std::string> names;
  for (const auto& item : TRY(deps_.assets.list(principal)).items)
    if (item.type == "playbook") names.push_back(item.name);
  return names;
}

OrderedJson run_to_json(const jobs::Job& job) {
  return {{"job_id", job.id}, {"status", jobs::word(job.state)}};
}

OrderedJson to_json(const BulkRunResult& bulk) {
  auto list = OrderedJson::array();
  for (const auto& job : bulk.jobs)
    list.push_back({{"inventory_id", job.request["inventory_id"].get<std::string>()},
                    {"name", job.name},
                    {"job_id", job.id}});
  auto count = list.size();
  return {{"batch_id", bulk.batch_id},
          {"kind", bulk.kind},
          {"count", count},
          {"jobs", std::move(list)},
          {"failed", OrderedJson::array()}};
}

}  // namespace dash::automation
