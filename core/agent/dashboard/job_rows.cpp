#include "core/agent/dashboard/job_rows.hpp"

#include <array>

namespace dash::agent {
namespace {

constexpr std::array<std::string_view, 5> kStates{"queued", "running", "completed", "failed", "cancelled"};

constexpr std::string_view kSelectAgentJob =
    R"(SELECT id, agent_id, job_type, state, summary, error, progress, message, log_lines, created_by,
              created_at, expires_at, leased_at, answered_at
       FROM agent_jobs
       WHERE id = $1)";

Result<AgentJobState> read_state(const std::string& text) {
  for (std::size_t i = 0; i < kStates.size(); ++i)
    if (kStates[i] == text) return static_cast<AgentJobState>(i);
  return fail(Code::internal, "agent_jobs has an unknown state '{}'", text);
}

}  // namespace

std::string_view word(AgentJobState state) { return kStates.at(static_cast<std::size_t>(state)); }

Result<std::optional<AgentJob>> select_agent_job(db::Transaction& tx, const std::string& id) {
  auto rows = TRY(tx.query(kSelectAgentJob, {id}));
  if (rows.empty()) return std::optional<AgentJob>();
  const auto& row = rows[0];
  AgentJob job;
  job.id = row.text(0), job.agent_id = row.text(1), job.job_type = row.text(2);
  job.state = TRY(read_state(row.text(3)));
  job.summary = TRY(parse_json(row.text(4)));
  job.error = row.text(5);
  job.progress = static_cast<int>(row.integer(6)), job.message = row.text(7);
  job.log_lines = row.integer(8), job.created_by = row.text(9);
  job.created_at = from_micros(row.integer(10)), job.expires_at = from_micros(row.integer(11));
  job.is_leased = !row.is_null(12), job.is_answered = !row.is_null(13);
  return std::optional<AgentJob>(std::move(job));
}

Failure not_its_job() { return fail(Code::conflict, "this agent has no such job that it could report on"); }

Result<AgentJob> own_job(db::Transaction& tx, const Agent& agent, const std::string& id) {
  auto job = TRY(select_agent_job(tx, id));
  if (!job || job->agent_id != agent.id) return not_its_job();
  return *std::move(job);
}

Result<AgentJob> own_running_job(db::Transaction& tx, const Agent& agent, const std::string& id) {
  auto job = TRY(own_job(tx, agent, id));
  if (job.state != AgentJobState::running) return not_its_job();
  return job;
}

std::string payload_place(const std::string& job_id) { return "agent job payload " + job_id; }
std::string result_place(const std::string& job_id) { return "agent job result " + job_id; }

}  // namespace dash::agent
