#include "core/jobs/void_approval.hpp"

#include "core/base/log.hpp"
#include "core/jobs/digest.hpp"
#include "core/jobs/job_rows.hpp"
#include "core/policy/refusal.hpp"

namespace dash::jobs {
namespace {

constexpr std::int64_t kDefaultApprovalExpiryHours = 72;  // of an unanswered approval

}  // namespace

Result<std::int64_t> approval_expiry_hours(config::Settings& settings) {
  return settings.integer("approval_expiry_hours", kDefaultApprovalExpiryHours);
}

Result<void> cancel_denied(const Deps& deps, const Job& job, const policy::Decision& decision) {
  return deps.sql.write([&](db::Transaction& tx) -> Result<void> {
    auto reasons = dump_json(OrderedJson(decision.reasons));
    auto done = TRY(transition(
        tx, job.id, {job.state}, State::cancelled,
        {", reason = 'policy', message = $3, completed_at = $4, lease_owner = NULL, lease_until = NULL",
         {"refused by the rules: " + reasons, to_micros(deps.clock.now())},
         ""}));
    if (!done) return {};
    auto details = policy::audit_details(decision);
    details["job_id"] = job.id;
    details["request"] = OrderedJson(job.request);
    TRY(deps.audit.append(
        tx, {job.created_by, fmt::format("{}:denied", job.action), job.name, std::move(details), "", ""}));
    return {};
  });
}

Result<void> void_approval(const Deps& deps, const Job& job, const policy::Decision& decision) {
  bool held = decision.gated && decision.verdict == policy::Verdict::needs_approval &&
              decision.enforce_needs_approval;
  bool waits = held || job.needs_booking_approval || job.needs_plan_approval;
  auto now = deps.clock.now();
  log::info("jobs.approval_voided", {{"job", job.id}, {"action", job.action}});
  auto next = waits                             ? State::awaiting_approval
              : job.run_at && *job.run_at > now ? State::scheduled
                                                : State::pending;
  auto expires = now + std::chrono::hours(TRY(approval_expiry_hours(deps.settings)));
  auto reasons = held ? decision.approval_reasons : std::vector<std::string>();
  auto digest = covered_digest(job, decision);
  return deps.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec(
        R"(UPDATE jobs
           SET state = $2, needs_policy_approval = $3, approval_reasons = $4, approval_digest = $5,
             approval_expires_at = $6,
             revision = revision
               + CASE WHEN policy_approved_by IS NULL AND booking_approved_by IS NULL
                   AND plan_approved_by IS NULL THEN 0 ELSE 1 END,
             policy_approved_by = NULL, policy_approved_at = NULL,
             booking_approved_by = NULL, booking_approved_at = NULL,
             plan_approved_by = NULL, plan_approved_at = NULL,
             lease_owner = NULL, lease_until = NULL,
             message = 'the rules changed: it has to be approved again'
           WHERE id = $1 AND state = $7 AND revision = $8)",
        {job.id, std::string(word(next)), std::int64_t{held}, dump_json(OrderedJson(reasons)), digest,
         to_micros(expires), std::string(word(job.state)), job.revision}));
    return {};
  });
}

}  // namespace dash::jobs
