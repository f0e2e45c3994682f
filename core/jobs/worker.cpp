#include "core/jobs/worker.hpp"

#include <algorithm>

#include "core/jobs/actions.hpp"
#include "core/jobs/digest.hpp"
#include "core/jobs/job_rows.hpp"
#include "core/jobs/lease.hpp"
#include "core/jobs/machines.hpp"
#include "core/jobs/void_approval.hpp"

namespace dash::jobs {
namespace {

// While a job is put back, later claims wait for the engine no longer than this, because ungated jobs wait
// behind them.
constexpr auto kShortDecisionTimeout = std::chrono::milliseconds(250);
constexpr std::size_t kMaxLogLines = 10'000;  // of a job
constexpr std::size_t kLogBatch = 100;        // lines that are written at once

Json executor_input(const Job& job, const Json& parameters) {
  Json out = {{"job_id", job.id},
              {"action", job.action},
              {"name", job.name},
              {"region", job.region},
              {"request", job.request},
              {"parameters", parameters},
              {"created_by", job.created_by},
              {"attempt", job.attempts}};
  out["resource_id"] = job.resource_id ? Json(*job.resource_id) : Json(nullptr);
  out["zone"] = job.request.contains("zone") ? job.request["zone"] : Json(nullptr);
  out["workgroup"] = job.workgroup ? Json(*job.workgroup) : Json(nullptr);
  return out;
}

// The state of a running job: its log, its result, whether to stop. Renews the lease meanwhile.
class RunningJob {
 public:
  RunningJob(const Deps& deps, const Job& job, std::string owner, std::int64_t lease,
             const std::atomic<bool>& stop)
      : deps_(deps),
        job_(job),
        owner_(std::move(owner)),
        lease_(lease),
        stop_(stop),
        renewed_(deps_.clock.now()) {}

  void line(std::string text) {
    // A teardown has the evaluated one.
    const auto* action = find_action(job_.action);
    bool makes = !action || action->kind != ActionKind::teardown;
    if (auto json = parse_json(text); makes && json && json->is_object())
      if (auto id = string_member(*json, "resource_id")) resource_id_ = *id;
    if (seen_++ == kMaxLogLines) text = "(the log ends here: too many lines)";
    if (seen_ > kMaxLogLines + 1) return;
    lines_.push_back(std::move(text));
    if (lines_.size() >= kLogBatch) flush();
  }

  // Called several times a second.
  bool should_stop() {
    if (stop_) return shutdown_ = true;
    if (!lines_.empty()) flush();
    auto now = deps_.clock.now();
    // When the clock was put back, the lease is from the future: it is renewed at once.
    auto passed = to_micros(now) - to_micros(renewed_);
    if (passed >= 0 && passed < lease_ / 4) return cancelled_ || lost_;
    renewed_ = now;
    auto state = db::write<int>(deps_.sql, [&](db::Transaction& tx) -> Result<int> {
      auto rows = TRY(tx.query(
          R"(UPDATE jobs SET lease_until = $3, lease_micros = $4
             WHERE id = $1 AND state = 'running' AND lease_owner = $2
             RETURNING cancel_requested)",
          {job_.id, owner_, to_micros(now) + lease_, lease_}));
      return rows.empty() ? -1 : static_cast<int>(rows[0].integer(0));
    });
    // A database that does not answer does not stop the job before its lease is over.
    if (state) lost_ = *state<0, cancelled_ = *state> 0;
    return cancelled_ || lost_;
  }

  void flush() {
    auto lines = std::exchange(lines_, {});
    std::ignore = deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
      TRY(append_log(tx, job_.id, lines, deps_.clock.now()));
      if (!resource_id_.empty())
        TRY(tx.exec("UPDATE jobs SET resource_id = $2 WHERE id = $1", {job_.id, resource_id_}));
      return {};
    });
  }
  bool by_shutdown() const { return shutdown_; }

 private:
  const Deps& deps_;
  const Job& job_;
  std::string owner_;
  std::int64_t lease_;
  const std::atomic<bool>& stop_;
  Time renewed_;
  std::vector<std::string> lines_;
  std::string resource_id_;
  std::size_t seen_ = 0;
  bool cancelled_ = false, lost_ = false, shutdown_ = false;
};

}  // namespace

Result<void> Worker::requeue(const Job& job, std::string message, std::chrono::seconds pause) {
  auto later = to_micros(deps_.clock.now() + pause);
  return deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(transition(
        tx, job.id, {State::running}, State::pending,
        {", message = $3, retry_after = $4, lease_owner = NULL, lease_until = NULL, attempts = attempts - 1",
         {message, later, owner_},
         " AND lease_owner = $5"}));
    return {};
  });
}

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
    TRY(requeue(job, "the policy engine is unavailable: it will be tried again", kEngineRetryInterval));
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
  if (!held && !job.needs_booking_approval) return true;
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
  auto available = executors_.available();
  auto path = available.find(job.action);
  if (path == available.end()) return requeue(job, "its executor has gone", std::chrono::seconds(0));
  auto parameters = TRY(open_parameters(deps_.store, job));
  RunningJob running(deps_, job, owner_, TRY(lease_micros(deps_.settings)), stop);
  auto outcome = executors_.run(
      path->second, executor_input(job, parameters), [&](std::string text) { running.line(std::move(text)); },
      [&] { return running.should_stop(); });
  running.flush();
  return finish(job, outcome ? *outcome : RunResult{RunStatus::failed, outcome.error().message},
                string_member(parameters, "deploy_job_id").value_or(""), running.by_shutdown());
}

Result<void> Worker::finish(const Job& job, const RunResult& outcome, const std::string& deploy_id,
                            bool by_shutdown) {
  const auto* action = find_action(job.action);
  bool again = outcome.status == RunStatus::stopped && by_shutdown && action &&
               action->on_worker_loss == OnWorkerLoss::requeue;
  if (again) return requeue(job, "its worker was shut down: it will run again", std::chrono::seconds(0));
  auto state = outcome.status == RunStatus::done ? State::completed : State::failed;
  std::string error = outcome.error, reason = state == State::failed ? "executor" : "";
  if (outcome.status == RunStatus::stopped && by_shutdown) {
    error = "its worker was shut down; look at the provider before you submit it again",
    reason = "worker_lost";
  } else if (outcome.status == RunStatus::stopped) {
    state = State::cancelled, reason = "user";
  }
  return deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    auto text = [](const std::string& t) { return t.empty() ? db::Value(nullptr) : db::Value(t); };
    bool mine = TRY(transition(
        tx, job.id, {State::running}, state,
        {", message = $3, reason = $4, error = $5, completed_at = $6, lease_owner = NULL, lease_until = NULL",
         {std::string(word(state)), text(reason), text(error), to_micros(deps_.clock.now()), owner_},
         " AND lease_owner = $7"}));
    if (!mine || state != State::completed || !action || action->kind != ActionKind::teardown) return {};
    // Only the machine of this job; another one of its name still exists.
    TRY(mark_destroyed(tx, deploy_id, job.id));
    return {};
  });
}

}  // namespace dash::jobs
