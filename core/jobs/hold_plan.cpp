#include "core/jobs/hold_plan.hpp"

#include "core/jobs/digest.hpp"
#include "core/jobs/void_approval.hpp"

namespace dash::jobs {
namespace {

// A plan that cannot be stored fails the job: nothing was changed.
std::optional<RunResult> oversized_plan(const Plan& plan) {
  if (plan.bytes.size() <= kMaxPlanBytes) return std::nullopt;
  return RunResult{
      RunStatus::failed,
      fmt::format("the plan has {} bytes; one that waits for an approval has {} at most. Nothing "
                  "was changed: deploy less at once, or set deploy_plan_approval to off",
                  plan.bytes.size(), kMaxPlanBytes),
      "plan_too_large"};
}

Result<bool> to_approvers(const Deps& deps, db::Transaction& tx, const Job& job, const std::string& owner,
                          const Plan& plan, const policy::Decision& decision) {
  auto hours = TRY(approval_expiry_hours(deps.settings));
  auto planned = job;
  planned.plan_digest = plan.digest;
  auto message = fmt::format("waits for the approval of its plan: {}", plan.summary);
  return transition(tx, job.id, {State::running}, State::awaiting_approval,
                    {R"(, message = $3, approval_digest = $4, approval_expires_at = $5, plan_digest = $6,
           needs_plan_approval = 1, plan_approved_by = NULL, plan_approved_at = NULL,
           lease_owner = NULL, lease_until = NULL, attempts = attempts - 1)",
                     {message, covered_digest(planned, decision),
                      to_micros(deps.clock.now() + std::chrono::hours(hours)), plan.digest, owner},
                     " AND lease_owner = $7 AND cancel_requested = 0"});
}

Result<void> audit_waiting_plan(const Deps& deps, db::Transaction& tx, const Job& job, const Plan& plan) {
  OrderedJson details{{"job_id", job.id}, {"plan", plan.digest}, {"summary", plan.summary}};
  TRY(deps.audit.append(
      tx, {job.created_by, fmt::format("{}:plan_waits", job.action), job.name, std::move(details), "", ""}));
  return {};
}

}  // namespace

Result<void> hold_plan(const Deps& deps, const Job& job, const RunningJob& running, const Plan& plan,
                       const policy::Decision& decision) {
  if (auto refused = oversized_plan(plan)) return finish_job(deps, job, running, *refused);
  bool is_held = TRY(db::write<bool>(deps.sql, [&](db::Transaction& tx) -> Result<bool> {
    if (!TRY(to_approvers(deps, tx, job, running.owner(), plan, decision))) return false;
    TRY(store_plan(tx, deps.store, job.id, plan));
    TRY(audit_waiting_plan(deps, tx, job, plan));
    return true;
  }));
  if (is_held) return {};
  return finish_job(deps, job, running, {RunStatus::stopped, ""});
}

}  // namespace dash::jobs
