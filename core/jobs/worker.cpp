#include "core/jobs/worker.hpp"

#include <algorithm>

#include "core/jobs/digest.hpp"
#include "core/jobs/store.hpp"

namespace dash::jobs {
namespace {

constexpr std::int64_t kLeaseSeconds = 60;  // the setting job_lease_seconds
constexpr std::int64_t kShortestLease = 2;
constexpr auto kEngineRetry = std::chrono::seconds(30);  // after a claim that the engine could not judge
constexpr std::size_t kMostLogLines = 10'000;            // of a job
constexpr std::size_t kLogBatch = 100;                   // lines that are written at once

Json document_of(const Job& job, const Json& parameters) {
  Json out = {{"job_id", job.id},
              {"action", job.action},
              {"name", job.name},
              {"region", job.region},
              {"request", job.request},
              {"parameters", parameters},
              {"created_by", job.created_by},
              {"attempt", job.attempts}};
  out["workgroup"] = job.workgroup ? Json(*job.workgroup) : Json(nullptr);
  return out;
}

std::string quoted_list(const std::map<std::string, std::string>& available) {
  std::string out;
  for (const auto& [action, path] : available) out += fmt::format("{}'{}'", out.empty() ? "" : ", ", action);
  return out;
}

// What a running job says: its log, what it made, whether it is to stop. Renews the lease as it goes.
class Running {
 public:
  Running(Jobs& jobs, const Job& job, std::string owner, std::int64_t lease, const std::atomic<bool>& stop)
      : s_(jobs.seams()),
        job_(job),
        owner_(std::move(owner)),
        lease_(lease),
        stop_(stop),
        renewed_(s_.clock.now()) {}

  void line(std::string text) {
    if (auto json = parse_json(text); json && json->is_object())
      if (auto id = string_member(*json, "resource_id")) resource_id_ = *id;
    if (seen_++ == kMostLogLines) text = "(the log ends here: too many lines)";
    if (seen_ > kMostLogLines + 1) return;
    lines_.push_back(std::move(text));
    if (lines_.size() >= kLogBatch) flush();
  }

  // Asked several times a second.
  bool should_stop() {
    if (stop_) return shutdown_ = true;
    if (!lines_.empty()) flush();
    auto now = s_.clock.now();
    if (to_micros(now) - to_micros(renewed_) < lease_ / 4) return cancelled_ || lost_;
    renewed_ = now;
    auto state = db::write<int>(s_.sql, [&](db::Transaction& tx) -> Result<int> {
      auto rows = TRY(tx.query(
          "UPDATE jobs SET lease_until = $3 WHERE id = $1 AND state = 'running' AND lease_owner = $2 "
          "RETURNING cancel_requested",
          {job_.id, owner_, to_micros(now) + lease_}));
      return rows.empty() ? -1 : static_cast<int>(rows[0].integer(0));
    });
    // A database that does not answer does not stop the job before its lease is over.
    if (state) lost_ = *state<0, cancelled_ = *state> 0;
    return cancelled_ || lost_;
  }

  void flush() {
    auto lines = std::exchange(lines_, {});
    std::ignore = s_.sql.write([&](db::Transaction& tx) -> Result<void> {
      TRY(add_log(tx, job_.id, lines, s_.clock.now()));
      if (!resource_id_.empty())
        TRY(tx.exec("UPDATE jobs SET resource_id = $2 WHERE id = $1", {job_.id, resource_id_}));
      return {};
    });
  }
  bool by_shutdown() const { return shutdown_; }

 private:
  const Seams& s_;
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

Result<std::int64_t> Worker::lease_micros() {
  auto seconds = TRY(jobs_.seams().settings.integer("job_lease_seconds", kLeaseSeconds));
  return std::max(kShortestLease, seconds) * 1'000'000;
}

Result<std::optional<Job>> Worker::claim() {
  auto available = executors_.available();
  if (available.empty()) return std::nullopt;
  const auto& s = jobs_.seams();
  auto now = to_micros(s.clock.now());
  auto lease = TRY(lease_micros());
  auto ready = fmt::format(
      "state = 'pending' AND action IN ({}) AND (run_at IS NULL OR run_at <= $1) AND (window_ends_at IS NULL "
      "OR window_ends_at > "
      "$1) AND (retry_after IS NULL OR retry_after <= $1) AND (needs_policy_approval = 0 OR "
      "policy_approved_by IS NOT NULL) AND "
      "(needs_booking_approval = 0 OR booking_approved_by IS NOT NULL)",
      quoted_list(available));
  bool any = TRY(db::read<bool>(s.sql, [&](db::Transaction& tx) -> Result<bool> {
    return !TRY(tx.query(fmt::format("SELECT 1 FROM jobs WHERE {} LIMIT 1", ready), {now})).empty();
  }));
  if (!any) return std::nullopt;
  return db::write<std::optional<Job>>(s.sql, [&](db::Transaction& tx) -> Result<std::optional<Job>> {
    auto rows = TRY(tx.query(fmt::format("UPDATE jobs SET state = 'running', lease_owner = $2, lease_until = "
                                         "$3, attempts = attempts + 1, started_at = "
                                         "coalesce(started_at, $1), message = 'running' WHERE id = (SELECT "
                                         "id FROM jobs WHERE {0} ORDER BY seq LIMIT 1 "
                                         "{1}) AND {0} RETURNING id",
                                         ready, tx.is_postgres() ? "FOR UPDATE SKIP LOCKED" : ""),
                             {now, owner_, now + lease}));
    if (rows.empty()) return std::nullopt;
    return find_job(tx, rows[0].text(0));
  });
}

Result<void> Worker::put_back(const Job& job, std::string message, std::chrono::seconds pause) {
  const auto& s = jobs_.seams();
  auto later = to_micros(s.clock.now() + pause);
  return s.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(transition(
        tx, job.id, {State::running}, State::pending,
        {", message = $3, retry_after = $4, lease_owner = NULL, lease_until = NULL, attempts = attempts - 1",
         {message, later, owner_},
         " AND lease_owner = $5"}));
    return {};
  });
}

Result<bool> Worker::still_admitted(const Job& job) {
  auto s = jobs_.seams();
  auto decision =
      TRY(s.judge.judge(job.action, job.request, {job.created_by, job.created_by_admin}, s.clock.now()));
  if (decision.cause) {
    TRY(put_back(job, "the policy engine is unavailable: it will be tried again", kEngineRetry));
    return false;
  }
  bool held = decision.gated && decision.verdict == policy::Verdict::needs_approval &&
              decision.enforce_needs_approval;
  const auto* action = find_action(job.action);
  bool inexpressible = held && !(action && action->approvable && !job.batch_id);
  if ((decision.gated && decision.verdict == policy::Verdict::deny) || inexpressible) {
    TRY(cancel_refused(s, job, decision));
    return false;
  }
  if (!held && !job.needs_booking_approval) return true;
  bool is_approved = !held || job.policy_approval;
  if (is_approved && TRY(is_covered(s, job, decision))) return true;
  TRY(void_approval(s, job, decision));
  return false;
}

Result<bool> Worker::work(const std::atomic<bool>& stop) {
  auto job = TRY(claim());
  if (!job) return false;
  if (TRY(still_admitted(*job))) TRY(run(*job, stop));
  return true;
}

Result<void> Worker::run(const Job& job, const std::atomic<bool>& stop) {
  auto available = executors_.available();
  auto path = available.find(job.action);
  if (path == available.end()) return put_back(job, "its executor has gone", std::chrono::seconds(0));
  auto parameters = TRY(open_parameters(jobs_.seams().store, job));
  Running running(jobs_, job, owner_, TRY(lease_micros()), stop);
  auto outcome = executors_.run(
      path->second, document_of(job, parameters), [&](std::string text) { running.line(std::move(text)); },
      [&] { return running.should_stop(); });
  running.flush();
  return finish(job, outcome ? *outcome : Outcome{Ended::failed, outcome.error().message},
                string_member(parameters, "deploy_job_id").value_or(""), running.by_shutdown());
}

Result<void> Worker::finish(const Job& job, const Outcome& outcome, const std::string& deploy_id,
                            bool by_shutdown) {
  const auto& s = jobs_.seams();
  const auto* action = find_action(job.action);
  bool again =
      outcome.ended == Ended::stopped && by_shutdown && action && action->when_lost == WhenLost::requeue;
  if (again) return put_back(job, "its worker was shut down: it will run again", std::chrono::seconds(0));
  auto state = outcome.ended == Ended::done ? State::completed : State::failed;
  std::string error = outcome.error, reason = state == State::failed ? "executor" : "";
  if (outcome.ended == Ended::stopped && by_shutdown) {
    error = "its worker was shut down; look at the provider before you submit it again",
    reason = "worker_lost";
  } else if (outcome.ended == Ended::stopped) {
    state = State::cancelled, reason = "user";
  }
  return s.sql.write([&](db::Transaction& tx) -> Result<void> {
    auto text = [](const std::string& t) { return t.empty() ? db::Value(nullptr) : db::Value(t); };
    bool mine = TRY(transition(
        tx, job.id, {State::running}, state,
        {", message = $3, reason = $4, error = $5, completed_at = $6, lease_owner = NULL, lease_until = NULL",
         {std::string(word(state)), text(reason), text(error), to_micros(s.clock.now()), owner_},
         " AND lease_owner = $7"}));
    if (!mine || state != State::completed || !action || action->surface != Surface::teardown) return {};
    // The machine that was meant; another one of its name stands on.
    TRY(tx.exec(
        "UPDATE jobs SET destroyed_by = $1 WHERE state = 'completed' AND destroyed_by IS NULL AND (id "
        "= $2 OR (action = $3 AND resource_id = (SELECT d.resource_id FROM jobs d WHERE d.id = $2)))",
        {job.id, deploy_id, std::string(action->deploys)}));
    return {};
  });
}

}  // namespace dash::jobs
