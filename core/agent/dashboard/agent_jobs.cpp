// The dashboard's half of the queue: submit, wait, cancel, take.
#include "core/agent/dashboard/agent_jobs.hpp"

#include "core/agent/dashboard/agent_rows.hpp"
#include "core/agent/dashboard/job_rows.hpp"
#include "core/agent/protocol/canonical_json.hpp"
#include "core/crypto/hash.hpp"

namespace dash::agent {
namespace {

// How often the row is read while an agent works: an answer to this process wakes its waiter at once, so this is
// for answers to other replicas and for should_stop().
constexpr std::chrono::milliseconds kJobPollInterval{100};

bool has_ended(const AgentJob& job) {
  return job.state != AgentJobState::queued && job.state != AgentJobState::running;
}

Failure no_answer(const AgentJob& job) {
  if (!job.is_leased)
    return fail(Code::upstream,
                "the agent did not fetch the job in time; the job was cancelled and nothing was changed");
  return fail(Code::upstream,
              "the agent fetched the job and did not answer in time; the change may still happen");
}

Result<void> check_request(db::Transaction& tx, const AgentJobRequest& request, std::size_t payload_bytes,
                           Time now) {
  auto agent = TRY(select_agent(tx, request.agent_id));
  if (!agent) return fail(Code::upstream, "the agent '{}' is not known to this dashboard", request.agent_id);
  TRY(check_ready(*agent, request.job_type, now));
  if (payload_bytes <= kMaxPayloadBytes) return {};
  return Failure(too_large("the job for the agent '{}' has {} bytes; an agent takes {} at most", agent->name,
                           payload_bytes, kMaxPayloadBytes));
}

}  // namespace

AgentJobs::AgentJobs(Deps deps)
    : deps_(deps), waiting_(std::make_shared<WaitingLeases>(deps.sql, deps.clock)) {}

Result<AgentJobResult> AgentJobs::run(const AgentJobRequest& request, const AgentJobObserver& observer) {
  auto submitted_at = deps_.clock.now();
  auto id = TRY(submit(request));
  JobCursor cursor;
  auto job = TRY(wait(id, submitted_at + request.answer_within, observer, cursor));
  if (has_ended(job)) return conclude(job);
  if (observer.should_stop && observer.should_stop()) {
    TRY(stop_job(id, observer, cursor));
    return fail(Code::interrupted, "the job of the agent was cancelled");
  }
  TRY(abandon(id));
  // Between the last look and now the agent may have fetched or answered it.
  job = TRY(find(id));
  bool is_answered = job.state == AgentJobState::completed || job.state == AgentJobState::failed;
  if (is_answered) return conclude(job);
  return no_answer(job);
}

Result<AgentJobResult> AgentJobs::conclude(const AgentJob& job) {
  if (job.state == AgentJobState::completed) {
    auto result = TRY(take_result(job.id));
    return AgentJobResult{job.id, std::move(result)};
  }
  if (job.state == AgentJobState::failed)
    return fail(Code::upstream, "{}",
                job.error.empty() ? "the agent failed the job without a reason" : job.error);
  return fail(Code::upstream, "the job of the agent was cancelled{}",
              job.is_leased ? "; it may still carry it out" : " before the agent fetched it");
}

Result<std::string> AgentJobs::submit(const AgentJobRequest& request) {
  auto id = crypto::uuid4();
  auto payload = canonical_json(request.payload);
  db::Blob sealed{deps_.config.seal(payload_place(id), payload)};
  TRY(deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    auto now = deps_.clock.now();
    TRY(check_request(tx, request, payload.size(), now));
    TRY(tx.exec(R"(INSERT INTO agent_jobs (id, agent_id, job_type, state, summary, payload, created_at,
                                           created_by, expires_at)
                   VALUES ($1, $2, $3, 'queued', $4, $5, $6, $7, $8))",
                {id, request.agent_id, request.job_type, dump_json(request.summary), sealed, to_micros(now),
                 request.created_by, to_micros(now + request.lease_within)}));
    return {};
  }));
  waiting_->notify(request.agent_id);
  return id;
}

Result<AgentJob> AgentJobs::find(const std::string& job_id) {
  auto job = TRY(db::read<std::optional<AgentJob>>(
      deps_.sql, [&](db::Transaction& tx) { return select_agent_job(tx, job_id); }));
  if (!job) return fail(Code::not_found, "there is no job '{}' of an agent", job_id);
  return *std::move(job);
}

Result<AgentJob> AgentJobs::wait(const std::string& job_id, Time until, const AgentJobObserver& observer,
                                 JobCursor& cursor) {
  while (true) {
    auto seen = changes();
    auto job = TRY(find(job_id));
    TRY(pass_on(job, observer, cursor));
    bool is_over = has_ended(job) || is_stopping_ || deps_.clock.now() >= until;
    if (is_over || (observer.should_stop && observer.should_stop())) return job;
    wait_for_change(seen);
  }
}

Result<void> AgentJobs::pass_on(const AgentJob& job, const AgentJobObserver& observer, JobCursor& cursor) {
  bool has_moved = job.progress != cursor.progress || job.message != cursor.message;
  cursor.progress = job.progress, cursor.message = job.message;
  if (has_moved && observer.on_progress) observer.on_progress(job.progress, job.message);
  if (!observer.on_log || job.log_lines == cursor.lines) return {};
  return deps_.sql.read([&](db::Transaction& tx) {
    return tx.each("SELECT n, line FROM agent_job_logs WHERE job_id = $1 AND n > $2 ORDER BY n",
                   {job.id, cursor.lines}, [&](const db::Row& row) -> Result<void> {
                     cursor.lines = row.integer(0);
                     observer.on_log(row.text(1));
                     return {};
                   });
  });
}

// An agent that runs the job may still report its last lines.
Result<void> AgentJobs::stop_job(const std::string& job_id, const AgentJobObserver& observer,
                                 JobCursor& cursor) {
  TRY(cancel(job_id));
  auto until = deps_.clock.steady_now() + observer.stop_within;
  while (true) {
    auto seen = changes();
    auto job = TRY(find(job_id));
    TRY(pass_on(job, observer, cursor));
    bool may_report = job.is_leased && !job.is_answered && !is_stopping_ && deps_.clock.steady_now() < until;
    if (!may_report) return {};
    wait_for_change(seen);
  }
}

Result<Json> AgentJobs::take_result(const std::string& job_id) {
  auto sealed = TRY(db::write<std::string>(deps_.sql, [&](db::Transaction& tx) -> Result<std::string> {
    auto rows = TRY(
        tx.query("SELECT result FROM agent_jobs WHERE id = $1 AND state = 'completed' AND result IS NOT NULL",
                 {job_id}));
    if (rows.empty())
      return fail(Code::not_found, "the result of the agent's job '{}' is no longer held", job_id);
    TRY(tx.exec("UPDATE agent_jobs SET result = NULL WHERE id = $1", {job_id}));
    return rows[0].blob(0);
  }));
  return parse_json(TRY(deps_.config.open(result_place(job_id), sealed)));
}

Result<void> AgentJobs::cancel(const std::string& job_id) {
  TRY(deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec(R"(UPDATE agent_jobs
                   SET state = 'cancelled', payload = NULL, ended_at = $2
                   WHERE id = $1 AND state IN ('queued', 'running'))",
                {job_id, to_micros(deps_.clock.now())}));
    return {};
  }));
  notify_waiters();
  return {};
}

// Nobody waits any more: a queued job is cancelled, the answer to a running one is not kept.
Result<void> AgentJobs::abandon(const std::string& job_id) {
  return deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec(R"(UPDATE agent_jobs
                   SET state = 'cancelled', payload = NULL, ended_at = $2
                   WHERE id = $1 AND state = 'queued')",
                {job_id, to_micros(deps_.clock.now())}));
    TRY(tx.exec("UPDATE agent_jobs SET is_awaited = 0 WHERE id = $1 AND state = 'running'", {job_id}));
    return {};
  });
}

std::uint64_t AgentJobs::changes() {
  std::lock_guard lock(mutex_);
  return changes_;
}

void AgentJobs::wait_for_change(std::uint64_t seen) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kJobPollInterval, [&] { return changes_ != seen; });
}

void AgentJobs::stop() {
  is_stopping_ = true;
  notify_waiters();
}

void AgentJobs::notify_waiters() {
  {
    std::lock_guard lock(mutex_);
    ++changes_;
  }
  changed_.notify_all();
}

}  // namespace dash::agent
