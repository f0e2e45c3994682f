// The agent's half of the queue: lease, heartbeat, logs, complete.
#include "core/agent/dashboard/agent_jobs.hpp"
#include "core/agent/dashboard/agent_rows.hpp"
#include "core/agent/dashboard/agent_trail.hpp"
#include "core/agent/dashboard/audience.hpp"
#include "core/agent/dashboard/dashboard_key.hpp"
#include "core/agent/dashboard/job_rows.hpp"
#include "core/agent/protocol/canonical_json.hpp"
#include "core/agent/protocol/job_envelope.hpp"
#include "core/agent/protocol/request_signature.hpp"

namespace dash::agent {
namespace {

struct QueuedJob {
  std::string id, job_type, sealed_payload;
  std::int64_t expires_at = 0;
};

// Writers are serialised, so that the row stays what it is; SKIP LOCKED would step over one that is being taken
// should they ever not be.
Result<std::optional<QueuedJob>> oldest_job(db::Transaction& tx, const Agent& agent, Time now) {
  db::Params params{agent.id, to_micros(now)};
  std::string places;
  for (const auto& type : agent.allowed_job_types) {
    params.emplace_back(type);
    places += fmt::format("{}${}", places.empty() ? "" : ", ", params.size());
  }
  if (places.empty()) return std::optional<QueuedJob>();
  auto rows = TRY(tx.query(fmt::format(R"(SELECT id, job_type, payload, expires_at
                     FROM agent_jobs
                     WHERE agent_id = $1 AND state = 'queued' AND expires_at > $2 AND job_type IN ({})
                     ORDER BY created_at, id
                     LIMIT 1{})",
                                       places, tx.is_postgres() ? " FOR UPDATE SKIP LOCKED" : ""),
                           std::move(params)));
  if (rows.empty()) return std::optional<QueuedJob>();
  return std::optional<QueuedJob>({rows[0].text(0), rows[0].text(1), rows[0].blob(2), rows[0].integer(3)});
}

// The clocks may be as far apart as a signature allows.
std::int64_t envelope_expiry(std::int64_t expires_at) {
  auto whole = std::chrono::ceil<std::chrono::seconds>(from_micros(expires_at).time_since_epoch());
  return (whole + kSignatureWindow).count();
}

std::int64_t unix_seconds(Time at) { return to_micros(at) / 1'000'000; }

bool may_report(const AgentJob& job) {
  return !job.is_answered &&
         (job.state == AgentJobState::running || (job.state == AgentJobState::cancelled && job.is_leased));
}

Result<AgentJob> reported_job(db::Transaction& tx, const Agent& agent, const std::string& id) {
  auto job = TRY(own_job(tx, agent, id));
  if (!may_report(job)) return not_its_job();
  return job;
}

struct Answer {
  AgentJobState state;
  std::string error;
  db::Value result = nullptr;  // sealed
};

Result<Answer> judge(const config::EncryptedStore& config, const AgentJob& job, bool is_awaited,
                     const Completion& completion) {
  if (!completion.is_completed) return Answer{AgentJobState::failed, completion.error};
  auto result = canonical_json(completion.result);
  if (result.size() > kMaxResultBytes)
    return Answer{AgentJobState::failed, fmt::format("the agent's result has {} bytes; at most {} are taken",
                                                     result.size(), kMaxResultBytes)};
  Answer answer{AgentJobState::completed, ""};
  if (is_awaited) answer.result = db::Blob{config.seal(result_place(job.id), result)};
  return answer;
}

}  // namespace

Result<LeaseReply> AgentJobs::lease(const Agent& agent) {
  // Most leases find nothing, and a read does not wait for writers.
  auto now = deps_.clock.now();
  bool has_job = TRY(db::read<bool>(deps_.sql, [&](db::Transaction& tx) -> Result<bool> {
    auto rows = TRY(tx.query(
        "SELECT 1 FROM agent_jobs WHERE agent_id = $1 AND state = 'queued' AND expires_at > $2 LIMIT 1",
        {agent.id, to_micros(now)}));
    auto current = TRY(select_agent(tx, agent.id));
    if (!current || !is_same_identity(*current, agent)) return not_accepted();
    return !rows.empty();
  }));
  if (!has_job) return LeaseReply();
  return db::write<LeaseReply>(deps_.sql, [&](db::Transaction& tx) -> Result<LeaseReply> {
    auto current = TRY(select_agent(tx, agent.id));
    if (!current || !is_same_identity(*current, agent)) return not_accepted();
    auto queued = TRY(oldest_job(tx, *current, now));
    if (!queued) return LeaseReply();
    auto payload = TRY(parse_json(TRY(deps_.config.open(payload_place(queued->id), queued->sealed_payload))));
    auto audience = TRY(read_audience(tx, deps_.config)).origin;
    TRY(tx.exec(R"(UPDATE agent_jobs
                   SET state = 'running', payload = NULL, leased_at = $2, heard_at = $2
                   WHERE id = $1 AND state = 'queued')",
                {queued->id, to_micros(now)}));
    LeaseReply reply;
    reply.job = {{"job_id", queued->id},
                 {"job_type", queued->job_type},
                 {"agent_id", agent.id},
                 {"audience", audience},
                 {"payload", std::move(payload)},
                 {"issued_at", unix_seconds(now)},
                 {"expires_at", envelope_expiry(queued->expires_at)}};
    reply.signature = sign_job(TRY(dashboard_key(tx, deps_.config)), reply.job);
    TRY(record(tx, deps_.audit, agent, "agent.lease", queued->id, {{"job_type", queued->job_type}}));
    return reply;
  });
}

Result<AgentJob> AgentJobs::running_job(const Agent& agent, const std::string& job_id) {
  return db::read<AgentJob>(deps_.sql,
                            [&](db::Transaction& tx) { return own_running_job(tx, agent, job_id); });
}

Result<bool> AgentJobs::heartbeat(const Agent& agent, const std::string& job_id, const Heartbeat& heartbeat) {
  bool is_cancelled = false;
  TRY(deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    auto job = TRY(reported_job(tx, agent, job_id));
    TRY(tx.exec(
        "UPDATE agent_jobs SET progress = $2, message = $3, heard_at = $4 WHERE id = $1",
        {job_id, std::int64_t{heartbeat.progress_pct}, heartbeat.message, to_micros(deps_.clock.now())}));
    is_cancelled = job.state == AgentJobState::cancelled;
    return {};
  }));
  notify_waiters();
  return is_cancelled;
}

Result<std::int64_t> AgentJobs::add_logs(const Agent& agent, const std::string& job_id, const LogLines& log) {
  auto written = TRY(db::write<std::int64_t>(deps_.sql, [&](db::Transaction& tx) -> Result<std::int64_t> {
    auto job = TRY(reported_job(tx, agent, job_id));
    auto last = job.log_lines, n = log.first > 0 ? log.first : last + 1;
    std::int64_t kept = 0;
    for (const auto& line : log.lines) {
      if (n > kMaxLinesPerJob) break;
      if (n > last) {
        TRY(tx.exec("INSERT INTO agent_job_logs (job_id, n, line) VALUES ($1, $2, $3)", {job_id, n, line}));
        last = n, ++kept;
      }
      ++n;
    }
    TRY(tx.exec("UPDATE agent_jobs SET log_lines = $2, heard_at = $3 WHERE id = $1",
                {job_id, last, to_micros(deps_.clock.now())}));
    return kept;
  }));
  notify_waiters();
  return written;
}

Result<AgentJobState> AgentJobs::complete(const Agent& agent, const std::string& job_id,
                                          const Completion& completion) {
  auto state = TRY(db::write<AgentJobState>(deps_.sql, [&](db::Transaction& tx) -> Result<AgentJobState> {
    auto job = TRY(reported_job(tx, agent, job_id));
    auto awaited = TRY(tx.query("SELECT is_awaited FROM agent_jobs WHERE id = $1", {job_id}));
    auto answer = TRY(judge(deps_.config, job, awaited[0].flag(0), completion));
    if (job.state == AgentJobState::cancelled) answer = {AgentJobState::cancelled, answer.error};
    TRY(tx.exec(R"(UPDATE agent_jobs
                   SET state = $2, error = $3, result = $4, ended_at = coalesce(ended_at, $5),
                       heard_at = $5, answered_at = $5
                   WHERE id = $1)",
                {job_id, std::string(word(answer.state)), answer.error, answer.result,
                 to_micros(deps_.clock.now())}));
    if (on_answer_) TRY(on_answer_(tx, job));
    TRY(record(tx, deps_.audit, agent, "agent.complete", job_id,
               {{"job_type", job.job_type}, {"status", word(answer.state)}}));
    return answer.state;
  }));
  notify_waiters();
  return state;
}

}  // namespace dash::agent
