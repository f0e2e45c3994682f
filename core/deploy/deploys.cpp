#include "core/deploy/deploys.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "core/base/log.hpp"
#include "core/deploy/deploy_run.hpp"
#include "core/deploy/settle.hpp"
#include "core/jobs/job_rows.hpp"
#include "core/storage/store/backends.hpp"

namespace dash::deploy {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kObstacleLifetime{1};
constexpr std::chrono::seconds kSettleInterval{5};

std::string folder_name(std::string action) {
  std::ranges::replace(action, ':', '-');
  return action;
}

// Keeps a deploy's state for one user inside of this process.
class OwnState {
 public:
  OwnState(std::mutex& mutex, std::set<std::string>& own, std::string job)
      : mutex_(mutex), own_(own), job_(std::move(job)) {
    std::lock_guard lock(mutex_);
    is_taken_ = own_.insert(job_).second;
  }
  ~OwnState() {
    std::lock_guard lock(mutex_);
    if (is_taken_) own_.erase(job_);
  }
  OwnState(const OwnState&) = delete;
  OwnState& operator=(const OwnState&) = delete;
  bool is_taken() const { return is_taken_; }

 private:
  std::mutex& mutex_;
  std::set<std::string>& own_;
  const std::string job_;
  bool is_taken_ = false;
};

}  // namespace

std::string unrecorded_warning(const std::string& state_job) {
  return fmt::format(
      "the program was killed: resources that the state does not record may exist. Look at the provider. "
      "dashctl storage state list names the lock that is left, dashctl storage state unlock {} ID ends it",
      state_job);
}

Deploys::Deploys(const jobs::Deps& jobs, storage::OpenStore open, Options options)
    : jobs_(jobs),
      open_(std::move(open)),
      options_(std::move(options)),
      records_(jobs.sql, jobs.clock, jobs.store) {}

void Deploys::add_runners(jobs::Runners& runners) {
  for (const auto& action : jobs::actions()) {
    std::string name(action.name);
    auto run = [this](const jobs::Job& job, const Json& parameters, jobs::RunControl& control) {
      return this->run(job, parameters, control);
    };
    runners.add(name, {run, action.on_worker_loss, [this, name] { return obstacle(name); }});
  }
}

Result<std::optional<ModuleFolder>> Deploys::module(const std::string& action) const {
  return read_module(options_.executor_folder, action, ::geteuid());
}

std::optional<std::string> Deploys::obstacle(const std::string& action) {
  auto now = std::chrono::steady_clock::now();
  {
    std::lock_guard lock(mutex_);
    auto known = obstacles_.find(action);
    if (known != obstacles_.end() && now - known->second.asked_at < kObstacleLifetime)
      return known->second.text;
  }
  auto text = find_obstacle(action);
  std::lock_guard lock(mutex_);
  obstacles_[action] = {now, text};
  return text;
}

std::optional<std::string> Deploys::find_obstacle(const std::string& action) {
  const auto* known = jobs::find_action(action);
  if (!known) return "";
  bool is_teardown = known->kind == jobs::ActionKind::teardown;
  std::string deploys(is_teardown ? known->deploy_action : known->name);
  auto module = this->module(deploys);
  auto kept = is_teardown ? records_.has_resources(deploys) : Result<bool>(false);
  bool has_kept = kept && *kept;
  if (!module && !has_kept) return module.error().message;
  if (module && !*module && !has_kept)
    return fmt::format("put an executable at {0}/{1}, or the *.tf files of a module into {0}/{2}/",
                       options_.executor_folder, folder_name(action), folder_name(deploys));
  if (auto program = find_iac_program(); !program) return program.error().message;
  auto settings = jobs_.settings.snapshot(config::kAllSettings);
  if (settings && !storage::active_backend((*settings)->values()))
    return "no storage backend is active, so there is no place for its state: configure one on /storage";
  return std::nullopt;
}

Result<std::unique_ptr<storage::LockedState>> Deploys::open_state(const std::string& job_id) const {
  auto settings = TRY(jobs_.settings.snapshot(config::kAllSettings));
  const auto* active = storage::active_backend(settings->values());
  if (!active)
    return fail(Code::upstream,
                "no storage backend is active, so there is no place for the state: configure one");
  auto place = TRY(storage::StatePlace::open(open_, {active, &settings->values()}, options_.deploy_folder));
  return storage::LockedState::open(std::move(place), job_id);
}

Result<jobs::RunResult> Deploys::run(const jobs::Job& job, const Json& parameters,
                                     jobs::RunControl& control) {
  auto deploy = string_member(parameters, "deploy_job_id").value_or(job.id);
  OwnState own(mutex_, own_, deploy);
  if (!own.is_taken())
    return fail(Code::conflict,
                "another job changes the same deploy here; send it again when that has ended");
  return DeployRun(*this, job, parameters, control).run();
}

Result<void> Deploys::settle_folder(const WorkFolder& folder, storage::LockedState& state,
                                    const std::string& state_job) {
  auto errored = TRY(folder.errored_state());
  TRY(settle(state, records_, state_job, {errored, folder.program_end() == ProgramEnd::in_order}));
  return folder.remove();
}

Result<bool> Deploys::is_active(const std::string& job_id) const {
  return db::read<bool>(jobs_.sql, [&](db::Transaction& tx) -> Result<bool> {
    auto job = TRY(jobs::find_job(tx, job_id));
    return job && job->state == jobs::State::running;
  });
}

// A folder that no run owns any more: its server died, or could not settle it.
Result<void> Deploys::settle_left_folder(const std::string& job_id) {
  WorkFolder folder(options_.work_folder, job_id);
  auto state_job = folder.state_job();
  OwnState own(mutex_, own_, state_job.empty() ? job_id : state_job);
  if (!own.is_taken() || TRY(is_active(job_id)) || TRY(is_active(state_job))) return {};
  auto end = folder.program_end();
  if (end == ProgramEnd::runs) return {};
  if (state_job.empty()) return folder.remove();
  auto state = TRY(open_state(state_job));
  TRY(settle_folder(folder, *state, state_job));
  log::info("deploy.settled", {{"job", job_id}, {"state_of", state_job}});
  if (end == ProgramEnd::in_order) return {};
  return jobs_.sql.write([&](db::Transaction& tx) -> Result<void> {
    auto job = TRY(jobs::find_job(tx, job_id));
    if (!job) return {};
    auto warnings = job->details.value("warnings", OrderedJson::array());
    warnings.push_back(unrecorded_warning(state_job));
    return jobs::set_job_detail(tx, job_id, "warnings", warnings);
  });
}

Result<void> Deploys::settle_kept_states() {
  for (const auto& job_id : TRY(records_.errored_jobs())) {
    OwnState own(mutex_, own_, job_id);
    if (!own.is_taken() || TRY(is_active(job_id))) continue;
    auto state = TRY(open_state(job_id));
    TRY(settle(*state, records_, job_id, {}));
    log::info("deploy.state_written", {{"job", job_id}});
  }
  return {};
}

void Deploys::tick() {
  auto now = std::chrono::steady_clock::now();
  {
    std::lock_guard lock(mutex_);
    if (now - settled_at_ < kSettleInterval) return;
    settled_at_ = now;
  }
  auto log_failure = [](const std::string& job_id, const Result<void>& result) {
    if (!result) log::warning("deploy.not_settled", {{"job", job_id}, {"error", result.error().message}});
  };
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(options_.work_folder, error))
    log_failure(entry.path().filename(), settle_left_folder(entry.path().filename()));
  log_failure("", settle_kept_states());
}

}  // namespace dash::deploy
