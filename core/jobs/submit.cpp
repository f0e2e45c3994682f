// The only way to a gated change.
#include "core/base/text.hpp"
#include "core/config/clouds.hpp"
#include "core/crypto/hash.hpp"
#include "core/jobs/batch.hpp"
#include "core/jobs/job_request.hpp"
#include "core/jobs/job_rows.hpp"
#include "core/jobs/post_deploy.hpp"
#include "core/jobs/teardown.hpp"
#include "core/jobs/void_approval.hpp"
#include "core/policy/refusal.hpp"
#include "core/windows/workgroups.hpp"

namespace dash::jobs {
namespace {

Result<ResolvedDeploy> resolve(const Deps& deps, const Principal& principal, const Action& action,
                               const Submission& submission) {
  if (action.kind == ActionKind::teardown)
    return db::read<ResolvedDeploy>(
        deps.sql, [&](db::Transaction& tx) { return resolve_teardown(tx, principal, action, submission); });
  ResolveContext context{principal, [&](const std::string& key) { return deps.settings.text(key); }};
  if (deps.modules) context.declared = TRY(deps.modules->declared(std::string(action.name)));
  auto out = TRY(submission.is_bulk ? resolve_bulk_deploy(action, submission.body, context)
                                    : resolve_deploy(action, submission.body, context));
  if (out.workgroup)
    TRY(windows::check_workgroup(*TRY(deps.windows.rule_of(*out.workgroup)), principal, *out.workgroup));
  for (auto& item : out.items)
    TRY(add_post_deploy(deps.post_deploy, principal, out.workgroup, item.post_deploy, item.request,
                        item.parameters));
  return out;
}

Result<JobRequest> make_request(const Deps& deps, const Principal& principal, const Action& action,
                                const Submission& submission) {
  auto now = deps.clock.now();
  auto plan = TRY(resolve(deps, principal, action, submission));
  auto time_range = TRY(requested_time_range(deps, submission.body, now));
  return JobRequest{&action,
                    principal,
                    {principal.username, principal.is_admin, principal.request_id},
                    std::move(plan),
                    std::move(time_range),
                    now};
}

Job make_job(const JobRequest& request, std::size_t i, const std::optional<std::string>& batch) {
  const auto& item = request.resolved.items[i];
  Job job;
  job.id = crypto::uuid4();
  job.action = request.action->name;
  job.receipt = receipt_of(request.decisions[i]);
  job.workgroup = request.resolved.workgroup;
  job.name = item.name;
  job.region = item.region;
  job.resource_id = item.resource_id;
  job.batch_id = batch;
  job.request = item.request;
  job.state = request.first_state();
  job.created_at = request.now;
  job.created_by = request.principal.username;
  job.created_by_admin = request.principal.is_admin;
  set_times(request, job);
  job.needs_policy_approval = request.needs_policy_approval,
  job.needs_booking_approval = request.needs_booking_approval;
  if (request.needs_policy_approval) job.approval_reasons = request.decisions[i].approval_reasons;
  return job;
}

Result<std::vector<Job>> make_jobs(const Deps& deps, const JobRequest& request) {
  auto batch = request.resolved.is_batch ? std::optional(crypto::random_hex(6)) : std::nullopt;
  auto hours = TRY(approval_expiry_hours(deps.settings));
  std::vector<Job> out;
  for (std::size_t i = 0; i < request.resolved.items.size(); ++i) {
    out.push_back(make_job(request, i, batch));
    if (!request.needs_approval()) continue;
    out.back().approval_digest = digest_of(request, out.back(), i);
    out.back().approval_expires_at = request.now + std::chrono::hours(hours);
  }
  return out;
}

// Inserts all jobs of a batch in one transaction, so that a crash leaves all or none of them.
Result<SubmitResult> insert(const Deps& deps, const JobRequest& request) {
  auto jobs = TRY(make_jobs(deps, request));
  return db::write<SubmitResult>(deps.sql, [&](db::Transaction& tx) -> Result<SubmitResult> {
    SubmitResult out{jobs};
    if (request.resolved.is_batch) TRY(check_name_collisions(tx, out.jobs));
    for (std::size_t i = 0; i < out.jobs.size(); ++i)
      TRY(insert_job(tx, deps.store, out.jobs[i], request.resolved.items[i].parameters));
    if (request.needs_policy_approval) {
      auto details = policy::audit_details(request.decisions.front());
      details["job_id"] = out.jobs.front().id;
      TRY(deps.audit.append(tx, audit_entry(request, 0, "needs_approval", std::move(details))));
    }
    return out;
  });
}

std::string_view message_of(State state) {
  if (state == State::awaiting_approval) return "Waiting for the approval of somebody else.";
  return state == State::scheduled ? "Booked." : "Submitted.";
}

}  // namespace

Result<SubmitResult> Jobs::submit(const Principal& principal, const Submission& submission) {
  auto name = config::canonical_action(trim(submission.action));
  const auto* action = find_action(name);
  if (!action) return fail(Code::not_found, "there is no action '{}'", submission.action);
  auto planned = make_request(deps_, principal, *action, submission);
  if (!planned && action->kind == ActionKind::teardown) return Failure(in_query(std::move(planned).error()));
  auto request = TRY(std::move(planned));
  TRY(authorize(deps_, request));
  return insert(deps_, request);
}

OrderedJson to_json(const SubmitResult& result) {
  const auto& first = result.jobs.front();
  OrderedJson out;
  out["job_id"] = first.batch_id.value_or(first.id);
  out["status"] = word(first.state);
  out["message"] = message_of(first.state);
  out["count"] = result.jobs.size();
  out["batch_id"] = first.batch_id ? OrderedJson(*first.batch_id) : OrderedJson(nullptr);
  out["job_ids"] = OrderedJson::array();
  out["names"] = OrderedJson::array();
  for (const auto& job : result.jobs) {
    if (first.batch_id) out["job_ids"].push_back(job.id);
    if (first.batch_id) out["names"].push_back(job.name);
  }
  out["scheduled_for"] = first.run_at ? OrderedJson(format_iso(*first.run_at)) : OrderedJson(nullptr);
  return out;
}

}  // namespace dash::jobs
