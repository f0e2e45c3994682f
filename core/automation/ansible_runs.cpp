#include "core/automation/ansible_runs.hpp"

#include "core/automation/agent_release.hpp"
#include "core/automation/agent_run.hpp"
#include "core/automation/ansible_command.hpp"
#include "core/automation/asset_file.hpp"
#include "core/automation/deploy_host.hpp"
#include "core/automation/output_lines.hpp"
#include "core/automation/run_input.hpp"
#include "core/automation/runner_choice.hpp"
#include "core/base/log.hpp"
#include "core/jobs/group_run.hpp"
#include "core/jobs/job_rows.hpp"
#include "core/jobs/post_deploy.hpp"
#include "core/jobs/secret_mask.hpp"
#include "core/net/process/confinement.hpp"

namespace dash::automation {
namespace {

constexpr std::int64_t kDefaultMemoryMb = 1024;
constexpr std::chrono::seconds kStopGrace(20);

std::string text_of_request(const jobs::Job& job, std::string_view name) {
  return string_member(job.request, name).value_or("");
}

// One run of ansible, from its files to the end of its jobs.
class AnsibleRun {
 public:
  AnsibleRun(const AnsibleRuns::Deps& deps, const jobs::Job& job, const Json& parameters,
             jobs::RunControl& control, jobs::GroupRun& group)
      : deps_(deps), job_(job), parameters_(parameters), control_(control), group_(group) {}

  Result<jobs::RunResult> run() {
    input_ = TRY(read_run_input(deps_.jobs.store, job_, parameters_, group_));
    auto folder = TRY(jobs::RunFolder::make(deps_.data_dir, job_.id));
    auto project = string_member(job_.request, "project");
    auto asset = text_of_request(job_, "asset");
    auto wrapped = project ? wrap_compose(asset, *project) : wrap(text_of_request(job_, "type"), asset);
    if (!TRY(fetch_asset({deps_.stores, deps_.buffers}, job_, folder.work() + "/" + wrapped.asset_file)))
      return fail_all(group_, asset_changed(asset), std::string(kAssetChanged));
    TRY(write_run_files(folder, input_.request, wrapped));
    auto secrets = TRY(folder.secrets());
    auto program = TRY(probe_ansible(TRY(find_ansible())));
    auto command = ansible_command(program, folder.work(), secrets, input_.request, wrapped);
    return execute(net::confined(command, TRY(confinement(program, folder.work(), secrets)), deps_.launcher));
  }

 private:
  Result<net::Confinement> confinement(const AnsibleProgram& program, const std::string& work,
                                       const std::string& secrets) {
    net::Confinement out;
    out.read = program.folders;
    out.read.push_back(program.path);
    out.read.push_back(secrets);
    out.work = {work};
    auto memory = TRY(deps_.settings.integer("automation_memory_mb", kDefaultMemoryMb));
    out.memory_bytes = static_cast<std::uint64_t>(memory) << 20;
    out.stop_grace = kStopGrace;
    if (auto can = net::can_confine(); !can) {
      if (!TRY(deps_.settings.flag("automation_unconfined", false))) return Failure(can.error());
      out.is_confined = false;
    }
    return out;
  }

  // Why the run must end now.
  std::optional<RunEnd::How> stop_reason(const RunTracker& tracker) {
    if (auto cause = stop_cause(deps_.jobs.sql, job_, control_, group_)) return cause;
    if (std::chrono::steady_clock::now() >= due_) return RunEnd::How::timed_out;
    if (input_.max_failures && tracker.bad_hosts() > *input_.max_failures)
      return RunEnd::How::too_many_failures;
    return std::nullopt;
  }

  Result<jobs::RunResult> execute(const net::Command& command) {
    jobs::SecretMask mask(secrets_of(input_.request));
    RunTracker tracker(input_.tracked, control_, group_, mask);
    due_ = std::chrono::steady_clock::now() + std::chrono::seconds(TRY(timeout_seconds(deps_.settings)));
    RunEventReader events([&](RunEvent event) { tracker.on_event(std::move(event)); });
    auto on_line = [&](std::string line) { tracker.on_output(std::move(line)); };
    OutputLines out(on_line), err(on_line);
    RunEnd end;
    net::RunOptions options;
    options.out = &out, options.err = &err, options.report = &events;
    options.grace = kStopGrace;
    options.should_stop = [&] {
      auto why = stop_reason(tracker);
      if (why) end.how = *why;
      return why.has_value();
    };
    auto child = TRY(net::Child::start(command));
    auto exit = child.communicate(options);
    out.finish(), err.finish();
    if (!exit && exit.error().code != Code::interrupted) return Failure(exit.error());
    const auto& status = child.exit_status();
    if (status.signal != 0) end.signal = status.signal;
    if (status.signal == 0 && status.code >= 0) end.exit_status = status.code;
    end.error = err.error();
    return tracker.finish(end);
  }

  const AnsibleRuns::Deps& deps_;
  const jobs::Job& job_;
  const Json& parameters_;
  jobs::RunControl& control_;
  jobs::GroupRun& group_;
  RunInput input_;
  std::chrono::steady_clock::time_point due_;
};

// An operator's executable; its output is masked like that of ansible.
Result<jobs::RunResult> run_executable(const jobs::Executors& executors, const std::string& path,
                                       const jobs::Job& job, const Json& parameters,
                                       jobs::RunControl& control, const std::function<bool()>& should_stop) {
  AnsibleRequest request;
  request.hosts = TRY(hosts_of_parameters(parameters));
  request.secret_vars = object_member(parameters, "secret_vars");
  jobs::SecretMask mask(secrets_of(request));
  auto masked = [&](std::string line) { return mask.mask_lines({std::move(line)}, jobs::kMaxExecutorLine); };
  auto result = executors.run(
      path, jobs::executor_document(job, parameters),
      [&](std::string line) { control.log(masked(std::move(line))); }, should_stop);
  if (result) result->error = masked(std::move(result->error));
  return result;
}

}  // namespace

Result<void> check_ansible_usable(config::Settings& settings, const std::string& data_dir) {
  TRY(find_ansible());
  TRY(jobs::can_keep_secrets(data_dir));
  if (TRY(settings.flag("automation_unconfined", false))) return {};
  return net::can_confine();
}

Result<Json> AnsibleRuns::complete(const jobs::Job& job, const Json& parameters, jobs::RunControl& control) {
  auto after = parameters.find(std::string(jobs::kAfterDeploy));
  if (after == parameters.end()) return parameters;
  bool becomes = after->value("becomes", false) || wrap(text_of_request(job, "type"), job.name).becomes ||
                 uses_become(object_member(parameters, "extra_vars"));
  auto host = TRY(find_deploy_host({deps_.jobs.sql, deps_.hosts}, job, *after, {becomes}, control));
  auto out = parameters;
  out.erase(std::string(jobs::kAfterDeploy));
  out["hosts"] = Json::array({to_parameters(host)});
  return out;
}

Result<jobs::RunResult> AnsibleRuns::run(const jobs::Job& job, const Json& sealed,
                                         jobs::RunControl& control) {
  const auto completed = complete(job, sealed, control);
  if (!completed) return jobs::RunResult{jobs::RunStatus::failed, completed.error().message, "no_host"};
  const auto& parameters = *completed;
  auto group = TRY(jobs::GroupRun::open(deps_.jobs, job));
  auto fail_with = [&](const Error& error) { return fail_all(*group, error.message, "automation"); };
  auto choice = choose_runner(text_of_request(job, "runner"), deps_.executors);
  if (!choice) return fail_with(choice.error());
  if (choice->executable.empty()) {
    auto result =
        choice->agent.empty()
            ? AnsibleRun(deps_, job, parameters, control, *group).run()
            : run_by_agent({deps_.agent_jobs, deps_.stores, deps_.buffers, deps_.settings, deps_.jobs},
                           choice->agent, {job, parameters, control, *group});
    return result ? *std::move(result) : fail_with(result.error());
  }
  auto leaders = run_executable(deps_.executors, choice->executable, job, parameters, control,
                                [&] { return control.should_stop(); });
  for (std::size_t i = 0; i < group->size(); ++i) {
    const auto& member = group->job(i);
    auto result = run_executable(deps_.executors, choice->executable, member,
                                 TRY(jobs::open_parameters(deps_.jobs.store, member)), group->control(i),
                                 [&] { return control.should_stop() || group->is_cancelled(member.id); });
    std::ignore = group->finish(i, result ? *result : jobs::failed_run(result.error()));
  }
  return leaders;
}

jobs::RunnerEntry AnsibleRuns::runner() {
  return {[this](const jobs::Job& job, const Json& parameters, jobs::RunControl& control) {
            return run(job, parameters, control);
          },
          jobs::OnWorkerLoss::fail};
}

}  // namespace dash::automation
