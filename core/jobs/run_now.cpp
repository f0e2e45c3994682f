#include "core/jobs/run_now.hpp"

#include "core/base/process_name.hpp"
#include "core/crypto/hash.hpp"
#include "core/jobs/job_rows.hpp"
#include "core/jobs/lease.hpp"
#include "core/jobs/running_job.hpp"

namespace dash::jobs {
namespace {

void fill_in(const Deps& deps, const Principal& principal, Job& job) {
  job.id = crypto::uuid4();
  job.created_at = deps.clock.now();
  job.created_by = principal.username;
  job.created_by_admin = principal.is_admin;
}

// The lease of a run names its process first.
std::string new_owner() { return fmt::format("{} {}", own_process_name(), crypto::random_hex(6)); }
bool has_owner_ended(std::string_view owner) { return has_process_ended(owner.substr(0, owner.rfind(' '))); }

// Passes the caller's stop request to the runner, and the progress to the caller.
class AbandonableRun final : public RunControl {
 public:
  AbandonableRun(RunningJob& job, const std::function<bool()>& is_abandoned, const OnProgress& on_progress)
      : job_(job), is_abandoned_(is_abandoned), on_progress_(on_progress) {}
  bool should_stop() const override { return job_.should_stop() || (is_abandoned_ && is_abandoned_()); }
  void log(std::string line) override { job_.log(std::move(line)); }
  void report(const JobProgress& progress) override {
    job_.report(progress);
    if (on_progress_) on_progress_(progress);
  }
  void set_detail(std::string member, OrderedJson value) override {
    job_.set_detail(std::move(member), std::move(value));
  }
  Result<void> flush() override { return job_.flush(); }

 private:
  RunningJob& job_;
  const std::function<bool()>& is_abandoned_;
  const OnProgress& on_progress_;
};

}  // namespace

Result<Job> enqueue(const Deps& deps, const Principal& principal, Job job, const Json& parameters,
                    const OnInsert& on_insert) {
  fill_in(deps, principal, job);
  TRY(deps.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(insert_job(tx, deps.store, job, parameters));
    return on_insert(tx, job);
  }));
  return job;
}

Result<Job> run_now(const Deps& deps, const Principal& principal, Job job, const Json& parameters,
                    const OnInsert& on_insert, const std::function<bool()>& is_abandoned,
                    const OnProgress& on_progress) {
  const auto* runner = deps.runners.find(job.action);
  if (!runner) return fail(Code::internal, "nothing here runs {}", job.action);
  fill_in(deps, principal, job);
  auto owner = new_owner();
  auto lease = TRY(lease_micros(deps.settings));
  TRY(deps.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(insert_job(tx, deps.store, job, parameters));
    TRY(take_lease(tx, job.id, owner, to_micros(job.created_at), lease));
    return on_insert(tx, job);
  }));
  std::atomic<bool> stop = false;
  RunningJob running(deps, job, owner, lease, stop);
  Result<RunResult> outcome = RunResult{};
  {
    LeaseKeeper keeper(running);
    AbandonableRun control(running, is_abandoned, on_progress);
    outcome = runner->run(job, parameters, control);
  }
  std::ignore = running.flush();
  auto error = outcome ? std::nullopt : std::optional(outcome.error());
  TRY(finish_job(deps, job, running, outcome ? *std::move(outcome) : failed_run(*error)));
  if (error) return Failure(*std::move(error));
  return db::read<Job>(deps.sql, [&](db::Transaction& tx) { return get_job(tx, job.id); });
}

Result<bool> fail_lost_job(db::Transaction& tx, const std::string& job_id, Time now, std::int64_t lease,
                           const std::string& message) {
  auto rows = TRY(tx.query(fmt::format("SELECT lease_owner, CASE WHEN {} THEN 1 ELSE 0 END FROM jobs "
                                       "WHERE id = $3 AND state = 'running'",
                                       lease_expired_condition(1, 2)),
                           {to_micros(now), lease, job_id}));
  bool is_lost = !rows.empty() && (rows[0].flag(1) || has_owner_ended(rows[0].text_or(0, "")));
  if (!is_lost) return false;
  return transition(tx, job_id, {State::running}, State::failed,
                    {", reason = 'worker_lost', message = $3, error = $3, completed_at = $4, "
                     "lease_owner = NULL, lease_until = NULL",
                     {message, to_micros(now)},
                     ""});
}

}  // namespace dash::jobs
