// Reschedules a job that has not begun, or was missed.
#include <algorithm>

#include "core/jobs/batch.hpp"
#include "core/jobs/job_request.hpp"
#include "core/jobs/job_rows.hpp"
#include "core/jobs/void_approval.hpp"
#include "core/policy/refusal.hpp"

namespace dash::jobs {
namespace {

constexpr State kReschedulable[] = {State::awaiting_approval, State::scheduled, State::pending, State::missed,
                                    State::expired};

bool can_reschedule(const Job& job) {
  return std::ranges::find(kReschedulable, job.state) != std::end(kReschedulable);
}

// A plan is made from the state as it was; at another time it would be stale.
Result<void> check_has_no_plan(const Job& job) {
  if (is_final(job.state) || !job.needs_plan_approval) return {};
  return fail(
      Code::conflict,
      "job {} has made its plan and cannot be moved; approve or reject the plan, or cancel the job and "
      "submit it again",
      job.id);
}

Failure changed_meanwhile(const std::string& id) {
  return fail(Code::conflict, "job {} changed meanwhile; read it again", id);
}

// Rebuilds the change as it was evaluated first, for its requester.
Result<JobRequest> make_request(const Deps& deps, const Principal& principal, const Job& job,
                                const Json& body) {
  const auto* action = find_action(job.action);
  if (!action) return fail(Code::conflict, "job {} is of a kind that this version does not know", job.id);
  auto now = deps.clock.now();
  auto time_range = TRY(requested_time_range(deps, body, now));
  ResolvedDeploy plan{
      {{job.name, job.region, job.request, Json::object()}}, job.workgroup, job.batch_id.has_value()};
  policy::Actor actor{job.created_by, job.created_by_admin, principal.request_id};
  return JobRequest{action, principal, std::move(actor), std::move(plan), std::move(time_range), now};
}

db::Value or_null(const std::optional<Time>& time) {
  return time ? db::Value(to_micros(*time)) : db::Value(nullptr);
}

// Applies only while no other request rescheduled the job or voided an approval of it.
Result<StateChange> state_change(const Deps& deps, const JobRequest& request, Job job) {
  set_times(request, job);
  job.plan_digest.clear();  // it will make its plan anew
  const auto& decision = request.decisions.front();
  auto expires = request.now + std::chrono::hours(TRY(approval_expiry_hours(deps.settings)));
  auto digest = digest_of(request, job, 0);
  auto reasons = request.needs_policy_approval ? decision.approval_reasons : std::vector<std::string>();
  return StateChange{
      R"(, run_at = $3, window_ends_at = $4, change_window_id = $5,
         needs_policy_approval = $6, needs_booking_approval = $7,
         approval_reasons = $8, approval_digest = $9, approval_expires_at = $10,
         receipt = $11, revision = revision + 1,
         policy_approved_by = NULL, policy_approved_at = NULL,
         booking_approved_by = NULL, booking_approved_at = NULL,
         needs_plan_approval = 0, plan_approved_by = NULL, plan_approved_at = NULL, plan_digest = '',
         retry_after = NULL, reason = NULL, message = '', completed_at = NULL)",
      {or_null(job.run_at), or_null(job.window_ends_at),
       job.change_window_id ? db::Value(*job.change_window_id) : db::Value(nullptr),
       std::int64_t{request.needs_policy_approval}, std::int64_t{request.needs_booking_approval},
       dump_json(OrderedJson(reasons)), std::move(digest),
       or_null(request.needs_approval() ? std::optional(expires) : std::nullopt), receipt_of(decision),
       job.revision},
      " AND revision = $12"};
}

Result<void> record(const Deps& deps, db::Transaction& tx, const JobRequest& request, const Job& before,
                    const Job& after) {
  TRY(tx.exec("INSERT INTO job_reschedules (job_id, username) VALUES ($1, $2) ON CONFLICT DO NOTHING",
              {after.id, request.principal.username}));
  if (request.needs_policy_approval) {
    auto details = policy::audit_details(request.decisions.front());
    details["job_id"] = after.id;
    TRY(deps.audit.append(tx, audit_entry(request, 0, "needs_approval", std::move(details))));
  }
  auto when = [](const Job& job) {
    return job.run_at ? OrderedJson(format_iso(*job.run_at)) : OrderedJson(nullptr);
  };
  OrderedJson details{{"job_id", after.id},
                      {"job_type", after.action},
                      {"requested_by", after.created_by},
                      {"was_status", word(before.state)},
                      {"was_scheduled_for", when(before)},
                      {"scheduled_for", when(after)}};
  TRY(deps.audit.append(
      tx, audit::make_event(request.principal, "change_rescheduled", after.name, std::move(details))));
  return {};
}

}  // namespace

Result<Job> Jobs::reschedule(const Principal& principal, const std::string& id, const Json& body) {
  return for_each_job(deps_, id, can_reschedule,
                      [&](const std::string& job_id) { return reschedule_job(principal, job_id, body); });
}

Result<Job> Jobs::reschedule_job(const Principal& principal, const std::string& id, const Json& body) {
  auto job = TRY(db::read<Job>(deps_.sql, [&](db::Transaction& tx) { return get_job(tx, id); }));
  if (!principal.is_admin && principal.username != job.created_by)
    return fail(Code::forbidden, "only its requester and admins may reschedule a job");
  if (!can_reschedule(job))
    return fail(Code::conflict, "job {} is {}; only a job that has not begun can be rescheduled", id,
                word(job.state));
  TRY(check_has_no_plan(job));
  auto request = TRY(make_request(deps_, principal, job, body));
  TRY(authorize(deps_, request));
  auto change = TRY(state_change(deps_, request, job));
  return db::write<Job>(deps_.sql, [&](db::Transaction& tx) -> Result<Job> {
    if (!TRY(transition(tx, id, {job.state}, request.first_state(), change))) return changed_meanwhile(id);
    TRY(remove_plan(tx, id));
    auto after = TRY(get_job(tx, id));
    TRY(record(deps_, tx, request, job, after));
    return after;
  });
}

}  // namespace dash::jobs
