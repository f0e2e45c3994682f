// Makes the transitions of time, and takes the jobs of dead workers.
#include "core/base/log.hpp"
#include "core/jobs/job_rows.hpp"
#include "core/jobs/jobs.hpp"
#include "core/jobs/lease.hpp"

namespace dash::jobs {
namespace {

constexpr int kMaxAttempts = 3;  // of a job that is re-queued when its worker dies

// One statement a rule: each row changes at most once, whatever other processes sweep.
Result<void> sweep_times(db::Transaction& tx, std::int64_t now) {
  constexpr std::string_view kRules[] = {
      R"(UPDATE jobs
         SET state = 'expired', reason = 'not_approved', message = 'nobody approved it in time',
           completed_at = $1
         WHERE state = 'awaiting_approval' AND (approval_expires_at <= $1 OR window_ends_at <= $1))",
      R"(UPDATE jobs
         SET state = 'missed', reason = 'window_closed', message = 'its window closed before it got a turn',
           completed_at = $1
         WHERE state IN ('scheduled', 'pending') AND window_ends_at <= $1)",
      "UPDATE jobs SET state = 'pending' WHERE state = 'scheduled' AND run_at <= $1",
  };
  for (auto rule : kRules) TRY(tx.exec(rule, {now}));
  return {};
}

Result<void> sweep_lost(db::Transaction& tx, const Runners& runners, std::int64_t now, std::int64_t lease) {
  auto rows = TRY(
      tx.query(kSelectJobs + "WHERE state = 'running' AND " + lease_expired_condition(1, 2), {now, lease}));
  for (const auto& row : rows) {
    auto job = TRY(row_to_job(row));
    bool again = on_worker_loss(runners, job.action) == OnWorkerLoss::requeue &&
                 job.attempts < kMaxAttempts && !job.cancel_requested;
    auto next = again ? State::pending : job.cancel_requested ? State::cancelled : State::failed;
    std::string set = again ? ", lease_owner = NULL, lease_until = NULL, message = $3"
                            : R"(, lease_owner = NULL, lease_until = NULL, message = $3,
                                 reason = 'worker_lost', error = $3, completed_at = $4)";
    std::string message =
        again ? "its worker stopped answering; it will run again"
              : "its worker stopped answering; look at the provider before you submit it again";
    // The lease is checked again, because its worker may have renewed it meanwhile.
    TRY(transition(tx, job.id, {State::running}, next,
                   {set, {message, now, lease}, " AND " + lease_expired_condition(4, 5)}));
    log::warning("jobs.worker_lost", {{"job", job.id}, {"action", job.action}, {"next", word(next)}});
  }
  return {};
}

constexpr std::string_view kSomethingIsDue =
    R"(SELECT 1 FROM jobs
       WHERE (state = 'awaiting_approval' AND (approval_expires_at <= $1 OR window_ends_at <= $1))
         OR (state IN ('scheduled', 'pending') AND window_ends_at <= $1)
         OR (state = 'scheduled' AND run_at <= $1)
         OR (state = 'running' AND {})
       LIMIT 1)";

}  // namespace

Result<void> Jobs::sweep() {
  auto now = to_micros(deps_.clock.now());
  auto lease = TRY(lease_micros(deps_.settings));
  // Most sweeps find nothing, and a read does not wait for writers.
  bool due = TRY(db::read<bool>(deps_.sql, [&](db::Transaction& tx) -> Result<bool> {
    if (TRY(has_stale_plans(tx))) return true;
    auto rows = TRY(tx.query(fmt::format(kSomethingIsDue, lease_expired_condition(1, 2)), {now, lease}));
    return !rows.empty();
  }));
  if (!due) return {};
  return deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(sweep_times(tx, now));
    TRY(remove_stale_plans(tx));
    return sweep_lost(tx, deps_.runners, now, lease);
  });
}

}  // namespace dash::jobs
