#include "core/jobs/worker.hpp"

#include <algorithm>

#include "core/jobs/actions.hpp"
#include "core/jobs/digest.hpp"
#include "core/jobs/hold_plan.hpp"
#include "core/jobs/job_rows.hpp"
#include "core/jobs/lease.hpp"
#include "core/jobs/post_deploy.hpp"
#include "core/jobs/running_job.hpp"
#include "core/jobs/void_approval.hpp"

namespace dash::jobs {
namespace {

// While a job is put back, later claims wait for the engine no longer than this, because ungated jobs wait
// behind them.
constexpr auto kShortDecisionTimeout = std::chrono::milliseconds(250);

}  // namespace

policy::Deadline Worker::decision_deadline() const {
  auto now = std::chrono::steady_clock::now();
  auto deadline = deps_.gate.deadline();
  bool has_failed = engine_failed_at_ && now - *engine_failed_at_ < kEngineRetryInterval;
  return has_failed ? std::min(deadline, now + kShortDecisionTimeout) : deadline;
}

Result<bool> Worker::reauthorize(const Job& job) {
  auto decision = TRY(deps_.gate.evaluate(job.action, job.request, {job.created_by, job.created_by_admin},
                                          deps_.clock.now(), decision_deadline()));
  if (decision.cause) {
    engine_failed_at_ = std::chrono::steady_clock::now();
    TRY(requeue_job(deps_, job, owner_, "the policy engine is unavailable: it will be tried again",
                    kEngineRetryInterval));
    return false;
  }
  bool held = decision.gated && decision.verdict == policy::Verdict::needs_approval &&
              decision.enforce_needs_approval;
  const auto* action = find_action(job.action);
  bool inexpressible = held && !(action && action->approvable && !job.batch_id);
  if ((decision.gated && decision.verdict == policy::Verdict::deny) || inexpressible) {
    TRY(cancel_denied(deps_, job, decision));
    return false;
  }
  decision_ = decision;
  if (!held && !job.needs_booking_approval && !job.needs_plan_approval) return true;
  bool is_approved = !held || job.policy_approval;
  if (is_approved && is_covered(job, decision)) return true;
  TRY(void_approval(deps_, job, decision));
  return false;
}

Result<bool> Worker::work(const std::atomic<bool>& stop) {
  auto job = TRY(claim());
  if (!job) return false;
  if (TRY(reauthorize(*job))) TRY(run(*job, stop));
  return true;
}

Result<void> Worker::run(const Job& job, const std::atomic<bool>& stop) {
  auto parameters = without_post_deploy(TRY(open_parameters(deps_.store, job)));
  RunningJob running(deps_, job, owner_, TRY(lease_micros(deps_.settings)), stop);
  Result<RunResult> outcome = RunResult{};
  const auto* runner = deps_.runners.find(job.action);
  auto available = executors_.available();
  auto path = available.find(job.action);
  bool has_executable = path != available.end();
  if (runner && (!runner->obstacle || !has_executable)) {
    LeaseKeeper keeper(running);
    outcome = runner->run(job, parameters, running);
  } else {
    if (!has_executable)
      return requeue_job(deps_, job, owner_, "its executor has gone", std::chrono::seconds(0));
    outcome = executors_.run(
        path->second, executor_document(job, parameters),
        [&](std::string text) { running.line(std::move(text)); }, [&] { return running.tend(); });
  }
  std::ignore = running.flush();
  if (outcome && outcome->status == RunStatus::plan_waits && outcome->plan)
    return hold_plan(deps_, job, running, *outcome->plan, decision_);
  return finish_job(deps_, job, running, outcome ? *outcome : failed_run(outcome.error()),
                    string_member(parameters, "deploy_job_id").value_or(""));
}

}  // namespace dash::jobs
