// What time does to jobs, content and nonces.
#include "core/agent/dashboard/agent_jobs.hpp"
#include "core/agent/dashboard/agent_requests.hpp"
#include "core/base/log.hpp"

namespace dash::agent {
namespace {

// Our agent reports at least each minute, a deployed one each two seconds.
constexpr std::chrono::minutes kSilence{5};
// Whoever waits for an answer takes it within a second; one whose process died never does.
constexpr std::chrono::minutes kUntakenContent{2};
constexpr std::chrono::hours kJobHistory{24};
constexpr std::int64_t kMaxJobHistory = 10'000;

constexpr std::string_view kUnleased = "state = 'queued' AND expires_at <= $1";
constexpr std::string_view kSilent = "state = 'running' AND heard_at <= $1";
constexpr std::string_view kUntaken = "result IS NOT NULL AND ended_at <= $1";
constexpr std::string_view kOld = "ended_at <= $1";

Result<bool> has_any(db::Transaction& tx, std::string_view condition, Time before) {
  auto rows =
      TRY(tx.query(fmt::format("SELECT 1 FROM agent_jobs WHERE {} LIMIT 1", condition), {to_micros(before)}));
  return !rows.empty();
}

// Returns when the newest job ended that is beyond the bound; nullopt where none is.
Result<std::optional<std::int64_t>> bound_of_history(db::Transaction& tx) {
  auto rows = TRY(tx.query(R"(SELECT ended_at FROM agent_jobs WHERE ended_at IS NOT NULL
                              ORDER BY ended_at DESC LIMIT 1 OFFSET $1)",
                           {kMaxJobHistory}));
  if (rows.empty()) return std::optional<std::int64_t>();
  return std::optional<std::int64_t>(rows[0].integer(0));
}

Result<bool> is_anything_due(db::Transaction& tx, Time now) {
  if (TRY(has_any(tx, kUnleased, now)) || TRY(has_any(tx, kSilent, now - kSilence)) ||
      TRY(has_any(tx, kUntaken, now - kUntakenContent)) || TRY(has_any(tx, kOld, now - kJobHistory)) ||
      TRY(bound_of_history(tx)))
    return true;
  auto stale =
      TRY(tx.query("SELECT 1 FROM agent_nonces WHERE at <= $1 LIMIT 1", {to_micros(now - kNonceLifetime)}));
  return !stale.empty();
}

Result<void> fail_silent_jobs(db::Transaction& tx, Time now) {
  auto silent = TRY(tx.query(fmt::format("SELECT id, agent_id FROM agent_jobs WHERE {}", kSilent),
                             {to_micros(now - kSilence)}));
  for (const auto& row : silent) {
    TRY(tx.exec(
        R"(UPDATE agent_jobs
                   SET state = 'failed', error = $2, ended_at = $3
                   WHERE id = $1)",
        {row.text(0), "the agent stopped reporting; it may still carry the job out", to_micros(now)}));
    log::warning("agent.job_lost", {{"job", row.text(0)}, {"agent", row.text(1)}});
  }
  return {};
}

}  // namespace

Result<void> AgentJobs::sweep() {
  auto now = deps_.clock.now();
  bool due = TRY(db::read<bool>(deps_.sql, [&](db::Transaction& tx) { return is_anything_due(tx, now); }));
  if (!due) return {};
  TRY(deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec(
        fmt::format("UPDATE agent_jobs SET state = 'cancelled', payload = NULL, ended_at = $1 WHERE {}",
                    kUnleased),
        {to_micros(now)}));
    TRY(fail_silent_jobs(tx, now));
    TRY(tx.exec(fmt::format("UPDATE agent_jobs SET result = NULL WHERE {}", kUntaken),
                {to_micros(now - kUntakenContent)}));
    TRY(tx.exec(fmt::format("DELETE FROM agent_jobs WHERE {}", kOld), {to_micros(now - kJobHistory)}));
    if (auto bound = TRY(bound_of_history(tx)))
      TRY(tx.exec("DELETE FROM agent_jobs WHERE ended_at <= $1", {*bound}));
    TRY(tx.exec("DELETE FROM agent_nonces WHERE at <= $1", {to_micros(now - kNonceLifetime)}));
    return {};
  }));
  notify_waiters();
  return {};
}

void AgentJobs::tick() {
  if (auto swept = sweep(); !swept)
    log::error("agent.sweep_failed", {{"error", swept.error().message}, {"detail", swept.error().detail}});
}

}  // namespace dash::agent
