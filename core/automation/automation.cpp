#include "core/automation/automation.hpp"

#include <algorithm>

#include "core/agent/dashboard/job_grant.hpp"
#include "core/agent/protocol/automation_job.hpp"
#include "core/automation/ansible.hpp"
#include "core/automation/playbook_check.hpp"
#include "core/automation/wrap.hpp"
#include "core/base/text.hpp"
#include "core/crypto/hash.hpp"
#include "core/jobs/actions.hpp"
#include "core/jobs/batch.hpp"
#include "core/jobs/group_run.hpp"
#include "core/jobs/job_rows.hpp"
#include "core/storage/store/names.hpp"
#include "core/windows/workgroups.hpp"

namespace dash::automation {
namespace {

// Members of the body that are shown with the job; the others may be secret.
constexpr std::array kShownMembers{"target", "target_kind", "target_id", "cloud", "agent_id", "transport"};
constexpr std::size_t kMaxShownPlaybook = 1u << 20;

// An executable reads its asset by itself, so it reaches no folder of this machine. Other runners are given it.
Result<void> check_reachable(const storage::OpenBackend& at, const std::string& runner) {
  bool is_given = runner == kLocalRunner || runner.starts_with(kAgentRunner);
  if (at.descriptor->is_object_store || at.descriptor->id == "agent_local" || is_given) return {};
  return fail(Code::invalid, "an asset on '{}' cannot be run by the runner '{}'; move it to an object store",
              at.display_id(), runner);
}

// A PowerShell script needs Windows, every other script or package does not run there.
Result<void> check_connections(std::string_view type, const std::string& asset,
                               const std::vector<Host>& hosts) {
  for (const auto& host : hosts) {
    bool is_windows = host.connection == Connection::winrm;
    if (type == "powershell" && !is_windows)
      return fail(Code::invalid,
                  "'{}' is a PowerShell script and runs only on hosts whose connection is winrm; '{}' has {}",
                  asset, host.name, word(host.connection));
    if (type != "powershell" && type != "playbook" && is_windows)
      return fail(Code::invalid, "'{}' does not run on '{}', whose connection is winrm", asset, host.name);
  }
  return {};
}

Result<std::string_view> runnable_type(const std::string& asset, RunKind kind) {
  auto type = storage::asset_type(asset);
  if (!type)
    return fail(Code::invalid, "'{}' cannot be run; runnable are {}", asset, storage::kAllowedExtensions);
  if (kind == RunKind::compose && *type != "playbook")
    return fail(Code::invalid, "'{}' is no compose file; its name ends in .yml or .yaml", asset);
  return *type;
}

bool has_local(const std::vector<Host>& hosts) {
  return std::ranges::find(hosts, Connection::local, &Host::connection) != hosts.end();
}

// What the job shows, and what its run needs to know of the asset.
Json shown_request(const Json& body, const RunRequest& request, const storage::FindResult& found) {
  Json out{{"asset", request.asset},
           {"backend", found.asset.backend},
           {"asset_etag", found.object.etag},
           {"asset_digest", found.asset.digest},
           {"check", request.is_check}};
  for (auto member : kShownMembers)
    if (auto it = body.find(member); it != body.end()) out[member] = *it;
  if (request.forks) out["forks"] = *request.forks;
  if (request.max_failures) out["max_failures"] = *request.max_failures;
  if (!request.project.empty()) out["project"] = request.project;
  return out;
}

// What goes to the worker, sealed. An executable gets every other member of the body too.
Json sealed_parameters(const Json& body, const RunRequest& request) {
  auto out = body;
  for (auto member : {"inventory_ids", "hosts"}) out.erase(member);
  out["extra_vars"] = request.extra_vars;
  out["secret_vars"] = request.secret_vars;
  return out;
}

Json hosts_json(const std::vector<Host>& hosts) {
  auto out = Json::array();
  for (const auto& host : hosts) out.push_back(to_parameters(host));
  return out;
}

std::vector<std::string> names_of(const std::vector<Host>& hosts) {
  std::vector<std::string> out;
  for (const auto& host : hosts) out.push_back(host.name);
  return out;
}

}  // namespace

// Everything whose refusal is Code::invalid, and then the runner.
Result<void> Automation::check_usable(Draft& draft, const Principal& principal,
                                      const storage::FindResult& found, RunKind kind,
                                      const config::Values& values) {
  auto& request = draft.request;
  TRY(check_run_request(request, kind));
  auto type = TRY(runnable_type(request.asset, kind));
  draft.job.request["type"] = type;
  auto name = runner_name(request.runner, request.cloud, values);
  draft.job.request["runner"] = name;
  TRY(check_reachable(TRY(deps_.stores.open(principal, found.asset.backend)), name));
  TRY(check_connections(kind == RunKind::compose ? "compose" : type, request.asset, draft.hosts));
  auto runner = choose_runner(name, deps_.executors);
  bool becomes = uses_become(request.extra_vars) || uses_become(request.secret_vars);
  if (kind != RunKind::compose && type == "playbook" && runner && runner->executable.empty())
    becomes = TRY(check_playbook(deps_.assets, principal, found, {has_local(draft.hosts), becomes}));
  becomes = becomes || wrap(type, request.asset).becomes;
  bool is_remote = name.starts_with(kAgentRunner);
  TRY(deps_.hosts.check(principal, draft.hosts, {.become = becomes, .through_agent = is_remote}));
  draft.runner = TRY(std::move(runner));
  if (!draft.runner.executable.empty()) return {};
  if (!request.foreign_members.empty())
    return fail(Code::invalid,
                "'{}' needs a runner that is an executable; the runner '{}' reaches hosts by ssh "
                "and winrm",
                request.foreign_members.front(), name);
  if (!is_remote) return check_ansible_usable(deps_.settings, deps_.data_dir);
  return check_agent_runner(draft.runner.agent);
}

// Whether the agent may run it at all; its own policy is its to judge.
Result<void> Automation::check_agent_runner(const std::string& name) {
  auto agent = agent::find_granted_agent(deps_.agents, name, agent::kAutomationJobType);
  if (agent) return {};
  if (agent.error().code == Code::upstream) agent.error().code = Code::conflict;
  return Failure(std::move(agent).error());
}

std::map<std::string, std::string> Automation::runner_warnings(const config::Values& values) {
  auto out = automation::runner_warnings(values, deps_.executors);
  for (const auto& [key, name] : agent_runners(values))
    if (auto granted = check_agent_runner(name); !granted) out[key] = granted.error().message;
  return out;
}

Result<Automation::Draft> Automation::draft(const Principal& principal, const Json& body, RunKind kind) {
  auto settings = TRY(deps_.stores.settings());
  if (!storage::active_backend(settings->values()))
    return fail(Code::conflict,
                "No storage backend is active, so there is no asset to run. Configure one and make it active "
                "first.");
  Draft out;
  out.request = TRY(read_run_request(body, kind));
  const auto& request = out.request;
  auto found = TRY(deps_.assets.find(principal, request.asset_backend, request.asset));
  bool is_foreign =
      found.asset.workgroup && !request.workgroup.empty() && *found.asset.workgroup != request.workgroup;
  if (is_foreign) return storage::asset_not_found(request.asset);
  out.hosts = TRY(deps_.hosts.find(principal, request.host_entries));
  if (!request.workgroup.empty())
    TRY(deps_.sql.read(
        [&](db::Transaction& tx) { return windows::check_workgroup(tx, principal, request.workgroup); }));
  if (!TRY(deps_.settings.flag("ansible_enabled", true)))
    return fail(Code::conflict,
                "Automation is off. An admin turns it on with ansible_enabled (PATCH "
                "/api/setup/feature/ansible).");
  out.job.request = shown_request(body, request, found);
  TRY(check_usable(out, principal, found, kind, settings->values()));
  out.job.action = jobs::kAutomationRun;
  out.job.name = request.asset;
  out.job.workgroup =
      request.workgroup.empty() ? found.asset.workgroup : storage::AssetScope(request.workgroup);
  out.job.created_at = deps_.clock.now();
  out.job.created_by = principal.username;
  out.job.created_by_admin = principal.is_admin;
  out.parameters = sealed_parameters(body, request);
  return out;
}

Result<void> Automation::enqueue(const Principal& principal, std::vector<jobs::Job>& jobs,
                                 const std::vector<Json>& parameters, const std::string& group) {
  return deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      auto& job = jobs[i];
      job.id = crypto::uuid4();
      TRY(jobs::insert_job(tx, deps_.config, job, parameters[i]));
      if (!group.empty()) TRY(jobs::set_run_group(tx, job.id, group));
      OrderedJson details{{"job_id", job.id}, {"request", OrderedJson(job.request)}};
      TRY(deps_.audit.append(tx,
                             audit::make_event(principal, "config_mgmt_run", job.name, std::move(details))));
    }
    return {};
  });
}

Result<jobs::Job> Automation::run_one(const Principal& principal, const Json& body, RunKind kind) {
  auto made = TRY(draft(principal, body, kind));
  made.job.request["hosts"] = names_of(made.hosts);
  made.parameters["hosts"] = hosts_json(made.hosts);
  std::vector<jobs::Job> jobs{made.job};
  TRY(enqueue(principal, jobs, {made.parameters}, ""));
  return std::move(jobs.front());
}

Result<jobs::Job> Automation::run(const Principal& principal, const Json& body) {
  return run_one(principal, body, RunKind::one);
}

Result<jobs::Job> Automation::deploy_compose(const Principal& principal, const Json& body) {
  return run_one(principal, body, RunKind::compose);
}

Result<BulkRunResult> Automation::run_bulk(const Principal& principal, const Json& body) {
  auto made = TRY(draft(principal, body, RunKind::bulk));
  BulkRunResult bulk{crypto::random_hex(6), made.job.request["type"], {}};
  made.job.batch_id = bulk.batch_id;
  std::vector<Json> parameters;
  for (const auto& host : made.hosts) {
    made.job.request["inventory_id"] = host.name;
    made.job.request["target"] = host.name;
    made.job.request["hosts"] = Json::array({host.name});
    bulk.jobs.push_back(made.job);
    parameters.push_back(made.parameters);
    parameters.back()["hosts"] = hosts_json({host});
  }
  // An operator's executable runs each job by itself.
  bool is_one_process = made.runner.executable.empty();
  TRY(enqueue(principal, bulk.jobs, parameters, is_one_process ? bulk.batch_id : ""));
  return bulk;
}

Result<OrderedJson> Automation::playbook(const Principal& principal, const std::string& job_id) {
  auto job = TRY(deps_.jobs.show(principal, job_id));
  if (job.batch_id == job.id) {
    auto of_batch = TRY(db::read<std::vector<jobs::Job>>(
        deps_.sql, [&](db::Transaction& tx) { return jobs::find_batch(tx, job_id); }));
    job = of_batch.front();
  }
  if (job.action != jobs::kAutomationRun)
    return fail(Code::not_found, "job '{}' is no automation run, so it has no playbook", job_id);
  auto asset = string_member(job.request, "asset").value_or("");
  auto project = string_member(job.request, "project");
  auto made =
      project ? wrap_compose(asset, *project) : wrap(string_member(job.request, "type").value_or(""), asset);
  bool is_generated = !made.playbook.empty();
  OrderedJson out{{"job_id", job_id}, {"asset", asset}, {"generated", is_generated}};
  if (is_generated) {
    out["playbook"] = made.playbook;
    return out;
  }
  std::string bytes(kMaxShownPlaybook + 1, '\0');
  auto opened =
      TRY(deps_.assets.open(principal, string_member(job.request, "backend").value_or(""), asset, bytes));
  if (opened.first.object.etag != string_member(job.request, "asset_etag").value_or(""))
    return fail(Code::conflict, "'{}' was changed since this run was requested", asset);
  if (opened.second > kMaxShownPlaybook) return Failure(too_large("'{}' is too long to be shown", asset));
  bytes.resize(opened.second);
  out["playbook"] = std::move(bytes);
  return out;
}

Result<std::vector<std::string>> Automation::playbooks(const Principal& principal) {
  std::vector<std::string> names;
  std::string cursor;
  do {
    auto page = TRY(deps_.assets.list_page(principal, std::nullopt, cursor));
    for (auto& item : page.items)
      if (item.type == "playbook") names.push_back(std::move(item.name));
    cursor = std::move(page.next);
  } while (!cursor.empty());
  std::ranges::sort(names);
  return names;
}

OrderedJson run_to_json(const jobs::Job& job) {
  return {{"job_id", job.id}, {"status", jobs::word(job.state)}};
}

OrderedJson to_json(const BulkRunResult& bulk) {
  auto list = OrderedJson::array();
  for (const auto& job : bulk.jobs) {
    auto target = job.request["target"].get<std::string>();
    list.push_back({{"inventory_id", target}, {"target", target}, {"name", target}, {"job_id", job.id}});
  }
  auto count = list.size();
  return {{"batch_id", bulk.batch_id},
          {"kind", bulk.kind},
          {"count", count},
          {"jobs", std::move(list)},
          {"failed", OrderedJson::array()}};
}

}  // namespace dash::automation
