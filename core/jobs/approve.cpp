// Approval and rejection: of one job, or of all jobs of a batch in one transaction.
#include <algorithm>

#include "core/jobs/batch.hpp"
#include "core/jobs/digest.hpp"
#include "core/jobs/job_rows.hpp"
#include "core/jobs/void_approval.hpp"
#include "core/policy/refusal.hpp"

namespace dash::jobs {
namespace {

using Digest = std::optional<std::string>;

// What is approved or rejected.
struct ApprovalSubject {
  std::string id;
  bool is_batch;
  std::vector<Job> jobs;     // all of a batch, or the one
  std::vector<Job> waiting;  // those of them that await an approval

  std::string digest() const { return is_batch ? batch_digest(jobs) : jobs.front().approval_digest; }
  Job shown() const { return is_batch ? summarize_batch(jobs) : jobs.front(); }
};

Result<ApprovalSubject> load_subject(db::Transaction& tx, const std::string& id) {
  auto jobs = TRY(find_batch(tx, id));
  bool is_batch = !jobs.empty();
  if (!is_batch) jobs.push_back(TRY(get_job(tx, id)));
  ApprovalSubject out{id, is_batch, std::move(jobs), {}};
  std::ranges::copy_if(out.jobs, std::back_inserter(out.waiting),
                       [](const Job& job) { return job.state == State::awaiting_approval; });
  return out;
}

// The jobs of a batch have one requester.
Result<void> check_can_decide(const Principal& principal, const ApprovalSubject& subject) {
  TRY(require_permission(principal, kUseChangeWindows));
  if (principal.username == subject.jobs.front().created_by)
    return fail(Code::forbidden, "somebody else has to approve your own change");
  return {};
}

Result<void> check_did_not_reschedule(db::Transaction& tx, const Principal& principal,
                                      const ApprovalSubject& subject) {
  for (const auto& job : subject.waiting) {
    auto moved = TRY(tx.query("SELECT 1 FROM job_reschedules WHERE job_id = $1 AND username = $2",
                              {job.id, principal.username}));
    if (!moved.empty())
      return fail(Code::forbidden, "you rescheduled job {}: somebody else has to approve it", job.id);
  }
  return {};
}

Result<void> check_digest(const ApprovalSubject& subject, const Digest& digest) {
  if (!digest || *digest == subject.digest()) return {};
  return fail(Code::conflict,
              "job {} is not what this digest covers; read it again and name its approval_digest",
              subject.id);
}

// A job that was never rescheduled, and lost no approval, is unchanged since its submission: no digest is
// needed.
Result<void> check_reviewed(const ApprovalSubject& subject, const Digest& digest) {
  if (digest) return {};
  for (const auto& job : subject.waiting)
    if (job.revision != 0)
      return fail(Code::conflict,
                  "job {} was rescheduled, or lost an approval, after it was submitted; read it again and "
                  "approve it with its approval_digest",
                  subject.id);
  return {};
}

Result<void> check_time(const ApprovalSubject& subject, Time now) {
  for (const auto& job : subject.waiting)
    if ((job.approval_expires_at && *job.approval_expires_at <= now) ||
        (job.window_ends_at && *job.window_ends_at <= now))
      return fail(Code::conflict, "job {} can no longer be approved: its time is over", job.id);
  return {};
}

// A plan changes what exists, so nobody approves one in passing.
Result<void> check_plan(const ApprovalSubject& subject, ApprovalKind what, const Digest& digest) {
  if (subject.waiting.empty()) return {};
  bool waits = std::ranges::any_of(subject.waiting, &Job::plan_waits);
  if (!waits && what == ApprovalKind::plan)
    return fail(Code::conflict, "job {} has no plan that waits for an approval", subject.id);
  if (!waits || (what == ApprovalKind::plan && digest)) return {};
  return fail(Code::conflict,
              "the plan of job {} waits: read the job with its log, then approve \"plan\" and name the job's "
              "approval_digest (dashctl job approve {} --only plan --digest DIGEST)",
              subject.id, subject.id);
}

// Checks every condition of an approval: before the rules are evaluated, and again when it is stored.
Result<ApprovalSubject> load_approvable(const Deps& deps, db::Transaction& tx, const Principal& principal,
                                        const std::string& id, ApprovalKind what, const Digest& digest) {
  auto subject = TRY(load_subject(tx, id));
  TRY(check_can_decide(principal, subject));
  TRY(check_did_not_reschedule(tx, principal, subject));
  TRY(check_digest(subject, digest));
  TRY(check_plan(subject, what, digest));
  TRY(check_reviewed(subject, digest));
  TRY(check_time(subject, deps.clock.now()));
  return subject;
}

OrderedJson details_of(const Job& job, std::string_view gates) {
  OrderedJson out;
  out["job_id"] = job.id;
  out["job_type"] = job.action;
  out["requested_by"] = job.created_by;
  out["scheduled_for"] = job.run_at ? OrderedJson(format_iso(*job.run_at)) : OrderedJson(nullptr);
  out["approval_digest"] = job.approval_digest;
  if (!job.plan_digest.empty()) out["plan"] = job.plan_digest;
  if (!gates.empty()) out["approves"] = gates;
  return out;
}

// Nothing waits any more: returns who approved, or why no approval is possible.
Result<ApproveResult> nothing_to_approve(const ApprovalSubject& subject) {
  const auto& job = subject.jobs.front();
  if (!job.needs_any_approval()) return fail(Code::invalid, "job {} does not need an approval", subject.id);
  if (job.approved() && !is_final(job.state)) return ApproveResult{subject.shown(), true};
  return fail(Code::conflict, "job {} is {}; there is nothing left to approve", subject.id, word(job.state));
}

Time run_time(const Job& job, Time now) { return job.run_at && *job.run_at > now ? *job.run_at : now; }

// Evaluates again what would run now. A refusal cancels the job. A change voids the approval.
Result<void> check_rules(const Deps& deps, const Principal& principal, const Job& job,
                         policy::Deadline deadline) {
  policy::Actor actor{job.created_by, job.created_by_admin, principal.request_id};
  auto decision =
      TRY(deps.gate.evaluate(job.action, job.request, actor, run_time(job, deps.clock.now()), deadline));
  if (decision.cause) return Failure(policy::denied(decision));
  if (is_covered(job, decision)) return {};
  if (decision.gated && decision.verdict == policy::Verdict::deny) {
    TRY(cancel_denied(deps, job, decision));
    return fail(Code::conflict, "the rules refuse this change now; the job was cancelled");
  }
  TRY(void_approval(deps, job, decision));
  return fail(Code::conflict,
              "the rules changed since this was requested; read the job again, then approve it");
}

bool is_same_revision(const Job& a, const Job& b) {
  return a.id == b.id && a.revision == b.revision && a.approval_digest == b.approval_digest;
}

// One of the approvals of a job.
struct ApprovalColumn {
  ApprovalKind kind;
  std::string_view name;  // of its columns, and in the audit log
  bool Job::*is_needed;
  std::optional<Approval> Job::*given;
};
constexpr ApprovalColumn kApprovals[] = {
    {ApprovalKind::policy, "policy", &Job::needs_policy_approval, &Job::policy_approval},
    {ApprovalKind::booking, "booking", &Job::needs_booking_approval, &Job::booking_approval},
    {ApprovalKind::plan, "plan", &Job::needs_plan_approval, &Job::plan_approval},
};

// Returns the approvals that `what` names and that are still open.
std::vector<ApprovalColumn> open_approvals(const Job& job, ApprovalKind what) {
  std::vector<ApprovalColumn> out;
  for (const auto& one : kApprovals)
    if (job.*one.is_needed && !(job.*one.given) && (what == ApprovalKind::all || what == one.kind))
      out.push_back(one);
  return out;
}

// Returns false when none was open.
Result<bool> grant(const Deps& deps, db::Transaction& tx, const Principal& principal, Job job,
                   ApprovalKind what) {
  auto now = deps.clock.now();
  auto open = open_approvals(job, what);
  if (open.empty()) return false;
  std::string gates;
  for (const auto& one : open) {
    TRY(tx.exec(
        fmt::format("UPDATE jobs SET {0}_approved_by = $2, {0}_approved_at = $3 WHERE id = $1", one.name),
        {job.id, principal.username, to_micros(now)}));
    job.*one.given = Approval{principal.username, now};
    gates += fmt::format("{}{}", gates.empty() ? "" : ", ", one.name);
  }
  TRY(deps.audit.append(tx,
                        audit::make_event(principal, "change_approved", job.name, details_of(job, gates))));
  if (!job.approved()) return true;
  auto next = job.run_at && *job.run_at > now ? State::scheduled : State::pending;
  if (!TRY(transition(tx, job.id, {State::awaiting_approval}, next)))
    return fail(Code::conflict, "job {} changed meanwhile; read it again", job.id);
  return true;
}

}  // namespace

Result<ApproveResult> Jobs::approve(const Principal& principal, const std::string& id, ApprovalKind what,
                                    const Digest& digest) {
  auto check = [&](db::Transaction& tx) { return load_approvable(deps_, tx, principal, id, what, digest); };
  auto evaluated = TRY(db::read<ApprovalSubject>(deps_.sql, check));
  if (evaluated.waiting.empty()) return nothing_to_approve(evaluated);
  auto deadline = deps_.gate.deadline();  // one for all jobs
  for (const auto& job : evaluated.waiting) TRY(check_rules(deps_, principal, job, deadline));
  return db::write<ApproveResult>(deps_.sql, [&](db::Transaction& tx) -> Result<ApproveResult> {
    auto now = TRY(check(tx));
    if (now.waiting.empty()) return nothing_to_approve(now);
    if (!std::ranges::equal(now.waiting, evaluated.waiting, is_same_revision))
      return fail(Code::conflict, "job {} changed meanwhile; read it again", id);
    bool any = false;
    for (const auto& job : now.waiting) any = TRY(grant(deps_, tx, principal, job, what)) || any;
    return ApproveResult{TRY(load_subject(tx, id)).shown(), !any};
  });
}

OrderedJson to_json(const ApproveResult& result) {
  const auto& job = result.job;
  auto last = job.last_approval();
  OrderedJson out;
  out["job_id"] = job.id;
  out["status"] = word(job.state);
  out["approved_at"] = last ? OrderedJson(format_iso(last->at)) : OrderedJson(nullptr);
  out["approved_by"] = last ? OrderedJson(last->by) : OrderedJson(nullptr);
  out["already"] = result.was_already_approved;
  return out;
}

Result<Job> Jobs::reject(const Principal& principal, const std::string& id, const std::string& why,
                         const Digest& digest) {
  return db::write<Job>(deps_.sql, [&](db::Transaction& tx) -> Result<Job> {
    auto subject = TRY(load_subject(tx, id));
    TRY(check_can_decide(principal, subject));
    if (subject.waiting.empty())
      return fail(Code::conflict, "job {} is {}; only a job that awaits approval can be rejected", id,
                  word(subject.jobs.front().state));
    TRY(check_digest(subject, digest));
    for (const auto& job : subject.waiting) {
      TRY(transition(tx, job.id, {State::awaiting_approval}, State::rejected,
                     {", reason = 'rejected', message = $3, completed_at = $4",
                      {why, to_micros(deps_.clock.now())},
                      ""}));
      auto details = details_of(job, "");
      details["why"] = why;
      TRY(deps_.audit.append(tx,
                             audit::make_event(principal, "change_rejected", job.name, std::move(details))));
    }
    return TRY(load_subject(tx, id)).shown();
  });
}

}  // namespace dash::jobs
