#include "core/deploy/deploy_run.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "core/base/file.hpp"
#include "core/crypto/hash.hpp"
#include "core/deploy/plan_basis.hpp"
#include "core/deploy/settle.hpp"
#include "core/jobs/job_rows.hpp"
#include "core/jobs/module_variables.hpp"
#include "core/storage/settings/state_document.hpp"

namespace dash::deploy {
namespace {

constexpr std::size_t kMaxPlanFile = 64u << 20;
constexpr std::int64_t kDefaultStopSeconds = 600;
constexpr std::chrono::milliseconds kAwaitInterval{200};
constexpr std::size_t kMaxNamedResources = 20;
constexpr auto kDeployFailed = "deploy_failed", kResourcesLeft = "resources_left";  // reasons
constexpr auto kDependencyLockMember = "dependency_lock", kStateMember = "state";   // of a plan's basis

const jobs::Action& action_of(const jobs::Job& job) { return *jobs::find_action(job.action); }

std::string state_job_of(const jobs::Job& job, const Json& parameters) {
  if (action_of(job).kind != jobs::ActionKind::teardown) return job.id;
  return string_member(parameters, "deploy_job_id").value_or("");
}

jobs::RunResult failed(std::string reason, std::string error) {
  jobs::RunResult out;
  out.error = std::move(error);
  out.reason = std::move(reason);
  return out;
}

std::string left_text(std::vector<std::string> addresses) {
  auto more = addresses.size() > kMaxNamedResources
                  ? fmt::format(" and {} more", addresses.size() - kMaxNamedResources)
                  : "";
  addresses.resize(std::min(addresses.size(), kMaxNamedResources));
  return fmt::format("the destroy left resources: {}{}. Look at them, and destroy again",
                     fmt::join(addresses, ", "), more);
}

std::string left_lock_warning(const std::string& state_job) {
  return fmt::format(
      "the program was killed while it planned: nothing was changed, and its lock may be left. dashctl "
      "storage state list names it, dashctl storage state unlock {} ID ends it",
      state_job);
}

// The texts that the log must not show.
std::vector<std::string> sensitive_texts(const ModuleFolder& module, const Json& values) {
  std::vector<std::string> out;
  for (const auto& [name, value] : values.items()) {
    auto declared = module.variables.find(name);
    if (declared != module.variables.end() && declared->second.is_sensitive && value.is_string())
      out.push_back(value.get<std::string>());
  }
  return out;
}

// Which cloud's panel the program gets.
std::string cloud_of(const jobs::Action& action, const Json& request) {
  return action.cloud.empty() ? string_member(request, "cloud").value_or("") : std::string(action.cloud);
}

}  // namespace

DeployRun::DeployRun(Deploys& deploys, const jobs::Job& job, const Json& parameters,
                     jobs::RunControl& control)
    : deploys_(deploys),
      job_(job),
      parameters_(parameters),
      control_(control),
      action_(action_of(job)),
      state_job_(state_job_of(job, parameters)),
      deploy_action_(is_teardown() ? action_.deploy_action : action_.name),
      folder_(deploys.options_.work_folder, job.id) {}

Result<jobs::RunResult> DeployRun::run() {
  auto no_state = failed("no_state",
                         "this server deployed nothing by that name, so there is no state to destroy from; "
                         "nothing was touched. Remove the resource at its provider");
  if (state_job_.empty()) return no_state;
  state_ = TRY(deploys_.open_state(state_job_));
  auto record = TRY(deploys_.records_.find(state_job_));
  if (is_teardown() && !record && TRY(state_->read()).empty()) return no_state;
  TRY(await_earlier_runs());
  if (control_.should_stop()) return jobs::RunResult{jobs::RunStatus::stopped, {}};
  approved_ = TRY(jobs::approved_plan(deploys_.jobs_.sql, deploys_.jobs_.store, job_));
  auto module = TRY(choose_module(record));
  TRY(deploys_.records_.begin(state_job_, deploy_action_, module));
  if (state_->place().is_file_system())
    warn(
        fmt::format("the state is a file of this machine, {} of the data folder: while no object store is "
                    "active, back it up with the data folder",
                    state_->shown_key()));
  auto prepared = prepare(module);
  auto result = prepared ? work() : Result<jobs::RunResult>(Failure(prepared.error()));
  clean_up();
  if (!result && control_.should_stop()) return jobs::RunResult{jobs::RunStatus::stopped, {}};
  return result;
}

Result<ModuleFolder> DeployRun::choose_module(const std::optional<DeployRecord>& record) {
  if (record) return deploys_.records_.module(*record);
  auto module = TRY(deploys_.module(deploy_action_));
  if (!module)
    return fail(Code::not_found, "the module of {} has gone: put its *.tf files back into {}", deploy_action_,
                deploys_.options_.executor_folder);
  return *std::move(module);
}

Result<void> DeployRun::await_earlier_runs() {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(deploys_.options_.work_folder, error)) {
    WorkFolder folder(deploys_.options_.work_folder, entry.path().filename());
    if (folder.state_job() != state_job_ && folder.path() != folder_.path()) continue;
    if (folder.program_end() == ProgramEnd::runs)
      control_.log("waiting for the program of an earlier run, which is being stopped");
    while (folder.program_end() == ProgramEnd::runs && !control_.should_stop())
      std::this_thread::sleep_for(kAwaitInterval);
    if (control_.should_stop()) return {};
    TRY(deploys_.settle_folder(folder, *state_, state_job_));
  }
  return settle(*state_, deploys_.records_, state_job_, {});
}

// The four that were judged, what the caller gave besides, and the rest of the request; each only where the
// module declares it.
Result<Json> DeployRun::variable_values(const ModuleFolder& module) const {
  auto request = job_.request;
  auto region = job_.region;
  auto parameters = parameters_;
  if (is_teardown()) {
    auto deploy = TRY(db::read<jobs::Job>(
        deploys_.jobs_.sql, [&](db::Transaction& tx) { return jobs::get_job(tx, state_job_); }));
    request = deploy.request;
    region = deploy.region;
    parameters = TRY(jobs::open_parameters(deploys_.jobs_.store, deploy));
  }
  auto given = jobs::variables_of_job(request, parameters);
  Json values{{"region", region}};
  for (const auto& source : {request, given})
    for (const auto& [name, value] : source.items())
      if (module.variables.contains(name) && !value.is_null() && !values.contains(name)) values[name] = value;
  return values;
}

Result<void> DeployRun::prepare(const ModuleFolder& module) {
  auto values = TRY(variable_values(module));
  auto secrets = sensitive_texts(module, values);
  auto providers = deploys_.options_.executor_folder + "/providers";
  if (!std::filesystem::exists(providers)) providers.clear();
  if (!providers.empty()) TRY(check_trusted_tree(providers, ::geteuid()));
  auto locked = approved_ ? string_member(approved_->basis, kDependencyLockMember).value_or("") : "";
  TRY(folder_.create(state_job_, {module, std::move(values), locked, providers}));
  server_ = TRY(StateServer::start(*state_, deploys_.records_, state_job_));
  auto settings = TRY(deploys_.jobs_.settings.snapshot(config::kAllSettings));
  auto credentials = cloud_credentials(cloud_of(action_, job_.request), settings->values(), folder_.home());
  TRY(folder_.write_credentials(credentials));
  auto seconds = TRY(deploys_.jobs_.settings.integer("deploy_stop_seconds", kDefaultStopSeconds));
  ProgramOptions options;
  options.path = TRY(find_iac_program());
  options.launcher = deploys_.options_.launcher;
  options.environment = server_->environment();
  options.environment.insert(options.environment.end(), credentials.environment.begin(),
                             credentials.environment.end());
  options.secrets = std::move(credentials.secrets);
  options.secrets.push_back(server_->password().expose());
  options.secrets.insert(options.secrets.end(), secrets.begin(), secrets.end());
  options.stop_timeout = std::chrono::seconds(seconds);
  program_ = std::make_unique<Program>(std::move(options), folder_, control_);
  return {};
}

jobs::RunResult DeployRun::step_failed(std::string_view step, const ProgramResult& result) const {
  auto text = result.error.empty() ? result.exit.text() : result.error;
  auto out = failed(kDeployFailed, fmt::format("{}: {}", step, text));
  if (auto holder = server_->foreign_lock()) {
    out = failed("state_locked",
                 fmt::format("the state {} is locked by {}. Wait until that program ends; when it "
                             "is gone, end its lock with dashctl storage state unlock {} {}",
                             state_->shown_key(), holder_text(*holder), state_job_, holder->id));
  } else if (text.find("plan is stale") != text.npos) {
    out = failed("stale_plan", "the plan is stale: the state changed after it was made. Submit it again");
  } else if (result.exit.signal != 0 && !result.is_stopped) {
    out.error = fmt::format("{}: the program was killed (signal {})", step, result.exit.signal);
  }
  if (result.is_stopped) out.status = jobs::RunStatus::stopped;
  return jobs::with_exit(std::move(out), result.exit);
}

Result<jobs::RunResult> DeployRun::work() {
  auto prepared = TRY(program_->run({"init", "-input=false", "-no-color"}));
  if (!prepared.exit.ok() || prepared.is_stopped) return step_failed("init", prepared);
  return approved_ ? apply_approved(*approved_) : plan();
}

Result<jobs::RunResult> DeployRun::apply_approved(const jobs::Plan& plan) {
  if (crypto::to_hex(crypto::sha256(plan.bytes)) != plan.digest)
    return fail(Code::integrity, "the plan that was approved is damaged; submit the change again");
  auto before = plan.basis.value(kStateMember, Json());
  if (auto why = stale_plan(before, TRY(plan_basis(*state_)))) return failed("stale_plan", *why);
  TRY(write_file(folder_.plan_file(), plan.bytes, 0600));
  control_.log("applies the plan that was approved: " + plan.digest);
  return apply();
}

Result<jobs::RunResult> DeployRun::plan() {
  auto basis = TRY(plan_basis(*state_));
  std::vector<std::string> arguments{"plan", "-input=false", "-no-color", "-out=" + folder_.plan_file(),
                                     "-var-file=" + folder_.values_file()};
  if (is_teardown()) arguments.push_back("-destroy");
  auto planned = TRY(program_->run(arguments));
  if (planned.exit.signal != 0) warn(left_lock_warning(state_job_));
  if (!planned.exit.ok() || planned.is_stopped) return step_failed("plan", planned);
  auto summary = TRY(read_plan(TRY(program_->print({"show", "-json", "-no-color", folder_.plan_file()}))));
  auto bytes = TRY(read_file(folder_.plan_file(), kMaxPlanFile));
  summary.digest = crypto::to_hex(crypto::sha256(bytes));
  control_.set_detail("plan", to_json(summary));
  TRY(control_.flush());
  jobs::PlanChanges changes{summary.add, summary.change, summary.destroy};
  if (TRY(jobs::needs_approval(deploys_.jobs_.settings, changes)))
    return hold_plan(summary, changes, std::move(bytes), std::move(basis));
  return apply();
}

Result<jobs::RunResult> DeployRun::hold_plan(const PlanSummary& summary, const jobs::PlanChanges& changes,
                                             std::string bytes, Json state_basis) {
  if (bytes.size() > jobs::kMaxPlanBytes)
    return fail(Code::too_large, "the plan has {} bytes; one that waits for an approval has {} at most",
                bytes.size(), jobs::kMaxPlanBytes);
  auto locked = TRY(folder_.dependency_lock());
  Json basis{{kDependencyLockMember, std::move(locked)}, {kStateMember, std::move(state_basis)}};
  control_.log("the plan waits for an approval: " + jobs::summary(changes));
  jobs::RunResult out;
  out.status = jobs::RunStatus::plan_waits;
  out.plan = jobs::Plan{summary.digest, jobs::summary(changes), std::move(bytes), std::move(basis)};
  return out;
}

Result<jobs::RunResult> DeployRun::apply() {
  if (control_.should_stop()) return jobs::RunResult{jobs::RunStatus::stopped, {}};
  auto applied =
      TRY(program_->run({"apply", "-input=false", "-no-color", "-auto-approve", folder_.plan_file()}));
  if (applied.exit.signal != 0) warn(unrecorded_warning(state_job_));
  if (applied.exit.ok()) return finish_apply(applied);
  auto result = step_failed(is_teardown() ? "destroy" : "apply", applied);
  if (is_teardown() && result.reason == kDeployFailed) name_left_resources(result);
  return result;
}

// A state that cannot be read leaves the program's own error.
void DeployRun::name_left_resources(jobs::RunResult& result) {
  auto text = state_->read();
  auto left = text ? managed_resources(*text) : std::vector<std::string>();
  if (left.empty()) return;
  result.reason = kResourcesLeft;
  result.error += "; " + left_text(std::move(left));
}

Result<jobs::RunResult> DeployRun::finish_apply(const ProgramResult& applied) {
  auto text = TRY(state_->read());
  auto left = managed_resources(text);
  if (is_teardown() && !left.empty())
    return jobs::with_exit(failed(kResourcesLeft, left_text(std::move(left))), applied.exit);
  jobs::RunResult out;
  out.status = jobs::RunStatus::done;
  if (!is_teardown()) TRY(report_outputs(text, out));
  return jobs::with_exit(std::move(out), applied.exit);
}

Result<void> DeployRun::report_outputs(const std::string& state, jobs::RunResult& out) {
  auto document = storage::parse_state(state);
  if (!document) return {};
  control_.set_detail("outputs", document->outputs);
  if (auto id = document->outputs.find("resource_id"); id != document->outputs.end() && id->is_string())
    out.resource_id = id->get<std::string>();
  auto json = TRY(parse_json(state));
  return deploys_.records_.set_outputs(state_job_, dump_json(json.value("outputs", Json::object())));
}

// The folder stays when what it holds could not be settled: Deploys::tick() tries again. Its secrets go.
void DeployRun::clean_up() {
  server_.reset();
  std::error_code error;
  std::filesystem::remove_all(folder_.home(), error);
  auto settled = deploys_.settle_folder(folder_, *state_, state_job_);
  if (!settled)
    warn(fmt::format("the state is not settled yet, this server tries again: {}", settled.error().message));
}

void DeployRun::warn(std::string text) {
  control_.log("warning: " + text);
  warnings_.push_back(std::move(text));
  control_.set_detail("warnings", warnings_);
}

}  // namespace dash::deploy
