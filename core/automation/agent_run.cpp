#include "core/automation/agent_run.hpp"

#include <algorithm>

#include "core/agent/dashboard/job_grant.hpp"
#include "core/agent/protocol/automation_job.hpp"
#include "core/automation/agent_release.hpp"
#include "core/automation/asset_file.hpp"
#include "core/automation/run_input.hpp"
#include "core/jobs/secret_mask.hpp"
#include "core/storage/store/copy.hpp"

namespace dash::automation {
namespace {

// Beyond the run's own time: for the asset, the start, and the report.
constexpr std::chrono::minutes kReportTime{5};
// So long a cancelled run may take to end its program and to say how the hosts are.
constexpr std::chrono::seconds kStopTime{40};

std::string bare_name(const std::string& asset) { return asset.substr(asset.rfind('/') + 1); }

agent::AutomationHost to_job_host(const Host& host) {
  agent::AutomationHost out;
  out.name = host.name;
  out.address = host.written_address;
  out.port = host.connection == Connection::local ? 0 : host.port;
  out.user = host.user;
  out.connection = word(host.connection);
  out.host_key = host.host_key;
  out.variables = host.variables;
  out.groups = host.groups;
  out.has_secret = !host.secret.empty();
  return out;
}

RunEnd::How how_of(std::string_view reason) {
  if (reason == "cancelled") return RunEnd::How::cancelled;
  if (reason == "stopped") return RunEnd::How::stopped;
  if (reason == "timed_out") return RunEnd::How::timed_out;
  if (reason == "too_many_failures") return RunEnd::How::too_many_failures;
  return RunEnd::How::exited;
}

Outcome outcome_of(std::string_view text) {
  for (auto outcome :
       {Outcome::skipped, Outcome::ok, Outcome::changed, Outcome::failed, Outcome::unreachable})
    if (word(outcome) == text) return outcome;
  return Outcome::none;
}

class AgentRun {
 public:
  AgentRun(const AgentRunDeps& deps, const RunningGroup& running) : deps_(deps), running_(running) {}

  Result<jobs::RunResult> run(const std::string& agent_name) {
    input_ = TRY(read_run_input(deps_.jobs.store, running_.job, running_.parameters, running_.group));
    auto agent = TRY(agent::find_granted_agent(deps_.agents.deps(), agent_name, agent::kAutomationJobType));
    auto asset = TRY(find_run_asset(deps_.stores, running_.job));
    if (!asset) return fail_all(running_.group, asset_changed(text_of("asset")), std::string(kAssetChanged));
    auto payload = TRY(make_payload(*asset));
    jobs::SecretMask mask(secrets_of(input_.request));
    RunTracker tracker(input_.tracked, running_.control, running_.group, mask);
    tracker.on_shared_output(fmt::format("The agent '{}' carries this run out.", agent.name));
    return follow(make_request(agent.id, payload, *asset), tracker);
  }

 private:
  std::string text_of(std::string_view name) const {
    return string_member(running_.job.request, name).value_or("");
  }

  Result<agent::AutomationJob> make_payload(RunAsset& asset) {
    if (asset.digest.empty())
      asset.digest = TRY(storage::read_digest(*asset.store, asset.object, deps_.buffers));
    agent::AutomationJob job;
    job.asset = bare_name(text_of("asset"));
    job.type = text_of("type");
    job.project = string_member(running_.job.request, "project");
    job.asset_bytes = asset.object.size;
    job.asset_digest = asset.digest;
    job.is_check = input_.request.is_check;
    job.forks = input_.request.forks;
    if (input_.max_failures) job.max_failures = static_cast<std::int64_t>(*input_.max_failures);
    job.timeout_seconds = std::min(TRY(timeout_seconds(deps_.settings)), agent::kMaxAutomationSeconds);
    job.extra_vars = input_.request.extra_vars;
    job.has_secret_vars = !input_.request.secret_vars.empty();
    for (const auto& host : input_.request.hosts) job.hosts.push_back(to_job_host(host));
    return job;
  }

  agent::AgentJobRequest make_request(const std::string& agent_id, const agent::AutomationJob& payload,
                                      const RunAsset& asset) const {
    agent::AgentJobRequest request;
    request.agent_id = agent_id;
    request.job_type = agent::kAutomationJobType;
    request.payload = agent::to_json(payload);
    std::vector<std::string> ids{running_.job.id};
    for (std::size_t i = 0; i < running_.group.size(); ++i) ids.push_back(running_.group.job(i).id);
    request.summary = release_summary(ids, running_.job, asset);
    request.created_by = running_.job.created_by;
    request.answer_within = std::chrono::seconds(payload.timeout_seconds) + agent::kJobTimeout + kReportTime;
    return request;
  }

  Result<jobs::RunResult> follow(const agent::AgentJobRequest& request, RunTracker& tracker) {
    RunEnd end;
    agent::AgentJobObserver observer;
    observer.on_log = [&](const std::string& line) { tracker.on_shared_output(line); };
    observer.should_stop = [&] {
      auto cause = stop_cause(deps_.jobs.sql, running_.job, running_.control, running_.group);
      if (cause) end.how = *cause;
      return cause.has_value();
    };
    observer.stop_within = kStopTime;
    auto done = deps_.agents.run(request, observer);
    if (!done && done.error().code == Code::interrupted) return tracker.finish(end);
    if (!done) return Failure(std::move(done).error());
    auto result = agent::read_automation_result(done->result);
    if (!result)
      return fail(Code::upstream, "the agent sent a result that cannot be read: {}", result.error().message);
    return tracker.finish(report(*result, tracker));
  }

  static RunEnd report(const agent::AutomationResult& result, RunTracker& tracker) {
    for (const auto& host : result.hosts) {
      auto outcome = outcome_of(host.outcome);
      if (outcome == Outcome::none) continue;
      tracker.on_event({RunEvent::Kind::outcome, host.name, {}, outcome, host.error});
      tracker.on_event({RunEvent::Kind::done, host.name, {}, Outcome::none, ""});
    }
    RunEnd end;
    end.how = how_of(result.reason);
    end.exit_status = result.exit_status, end.signal = result.signal;
    return end;
  }

  const AgentRunDeps& deps_;
  const RunningGroup& running_;
  RunInput input_;
};

}  // namespace

Result<jobs::RunResult> run_by_agent(const AgentRunDeps& deps, const std::string& agent_name,
                                     const RunningGroup& running) {
  return AgentRun(deps, running).run(agent_name);
}

}  // namespace dash::automation
