// The one door to a gated change.
#include "core/base/text.hpp"
#include "core/config/clouds.hpp"
#include "core/crypto/hash.hpp"
#include "core/jobs/batch.hpp"
#include "core/jobs/draft.hpp"
#include "core/jobs/store.hpp"
#include "core/jobs/teardown.hpp"
#include "core/policy/refusal.hpp"
#include "core/windows/workgroups.hpp"

namespace dash::jobs {
namespace {

Result<Plan> plan_of(const Seams& s, const Principal& who, const Action& action,
                     const Submission& submission) {
  auto setting = [&](const std::string& key) { return s.settings.text(key); };
  if (action.surface == Surface::teardown)
    return db::read<Plan>(s.sql,
                          [&](db::Transaction& tx) { return plan_teardown(tx, who, action, submission); });
  auto out = TRY(submission.is_bulk ? plan_bulk(action, submission.body, who, setting)
                                    : plan(action, submission.body, who, setting));
  if (out.workgroup)
    TRY(s.sql.read([&](db::Transaction& tx) { return windows::check_workgroup(tx, who, *out.workgroup); }));
  return out;
}

Result<Draft> draft_of(const Seams& s, const Principal& who, const Action& action,
                       const Submission& submission) {
  auto now = s.clock.now();
  auto plan = TRY(plan_of(s, who, action, submission));
  auto slot = TRY(slot_of(s, submission.body, now));
  return Draft{&action,         who, {who.username, who.is_admin, who.request_id}, std::move(plan),
               std::move(slot), now};
}

Job job_of(const Draft& draft, std::size_t i, const std::optional<std::string>& batch) {
  const auto& item = draft.plan.items[i];
  Job job;
  job.id = crypto::uuid4();
  job.action = draft.action->name;
  job.receipt = receipt_of(draft.decisions[i]);
  job.workgroup = draft.plan.workgroup;
  job.name = item.name;
  job.region = item.region;
  job.resource_id = item.resource_id;
  job.batch_id = batch;
  job.request = item.request;
  job.state = draft.first_state();
  job.created_at = draft.now;
  job.created_by = draft.who.username;
  job.created_by_admin = draft.who.is_admin;
  set_times(draft, job);
  job.needs_policy_approval = draft.held_by_policy, job.needs_booking_approval = draft.held_by_booking;
  if (draft.held_by_policy) job.approval_reasons = draft.decisions[i].approval_reasons;
  return job;
}

Result<std::vector<Job>> jobs_of(const Seams& s, const Draft& draft) {
  auto batch = draft.plan.is_batch ? std::optional(crypto::random_hex(6)) : std::nullopt;
  auto hours = TRY(approval_expiry_hours(s));
  std::vector<Job> out;
  for (std::size_t i = 0; i < draft.plan.items.size(); ++i) {
    out.push_back(job_of(draft, i, batch));
    if (!draft.held()) continue;
    out.back().approval_digest = digest_of(draft, out.back(), i);
    out.back().approval_expires_at = draft.now + std::chrono::hours(hours);
  }
  return out;
}

// All jobs of a batch in one transaction, so that a crash leaves all or none of them.
Result<Submitted> insert(const Seams& s, const Draft& draft) {
  auto jobs = TRY(jobs_of(s, draft));
  return db::write<Submitted>(s.sql, [&](db::Transaction& tx) -> Result<Submitted> {
    Submitted out{jobs};
    if (draft.plan.is_batch) TRY(refuse_taken_names(tx, out.jobs));
    for (std::size_t i = 0; i < out.jobs.size(); ++i)
      TRY(insert_job(tx, s.store, out.jobs[i], draft.plan.items[i].parameters));
    if (draft.held_by_policy) {
      auto details = policy::audit_details(draft.decisions.front());
      details["job_id"] = out.jobs.front().id;
      TRY(s.audit.append(tx, entry_of(draft, 0, "needs_approval", std::move(details))));
    }
    return out;
  });
}

std::string_view message_of(State state) {
  if (state == State::awaiting_approval) return "Waiting for the approval of somebody else.";
  return state == State::scheduled ? "Booked." : "Submitted.";
}

}  // namespace

Result<Submitted> Jobs::submit(const Principal& who, const Submission& submission) {
  auto name = config::canonical_action(trim(submission.action));
  const auto* action = find_action(name);
  if (!action) return fail(Code::not_found, "there is no action \"{}\"", submission.action);
  auto planned = draft_of(s_, who, *action, submission);
  if (!planned && action->surface == Surface::teardown) return Failure(in_query(std::move(planned).error()));
  auto draft = TRY(std::move(planned));
  TRY(pass(s_, draft));
  return insert(s_, draft);
}

OrderedJson to_json(const Submitted& submitted) {
  const auto& first = submitted.jobs.front();
  OrderedJson out;
  out["job_id"] = first.batch_id.value_or(first.id);
  out["status"] = word(first.state);
  out["message"] = message_of(first.state);
  out["count"] = submitted.jobs.size();
  out["batch_id"] = first.batch_id ? OrderedJson(*first.batch_id) : OrderedJson(nullptr);
  out["job_ids"] = OrderedJson::array();
  out["names"] = OrderedJson::array();
  for (const auto& job : submitted.jobs) {
    if (first.batch_id) out["job_ids"].push_back(job.id);
    if (first.batch_id) out["names"].push_back(job.name);
  }
  out["scheduled_for"] = first.run_at ? OrderedJson(format_iso(*first.run_at)) : OrderedJson(nullptr);
  return out;
}

}  // namespace dash::jobs
