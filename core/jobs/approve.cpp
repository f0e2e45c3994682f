// Approval, rejection, and what happens to an approval when the rules change under it.
#include "core/base/log.hpp"
#include "core/crypto/hash.hpp"
#include "core/jobs/batch.hpp"
#include "core/jobs/store.hpp"
#include "core/policy/refusal.hpp"

namespace dash::jobs {
namespace {

constexpr std::int64_t kExpiryHours = 72;  // of an unanswered approval

policy::Actor actor_of(const Job& job) { return {job.created_by, job.created_by_admin}; }

Result<void> may_decide(const identity::Principal& who, const Job& job) {
  TRY(identity::require(who, identity::kUseChangeWindows));
  if (who.username == job.created_by)
    return fail(Code::forbidden, "somebody else has to approve your own change");
  return {};
}

OrderedJson details_of(const Job& job, std::string_view gates) {
  OrderedJson out;
  out["job_id"] = job.id;
  out["job_type"] = job.action;
  out["requested_by"] = job.created_by;
  out["scheduled_for"] = job.run_at ? OrderedJson(format_iso(*job.run_at)) : OrderedJson(nullptr);
  if (!gates.empty()) out["approves"] = gates;
  return out;
}

// A job that is not waiting any more: who agreed, or why nobody can.
Result<Approved> not_waiting(Job job) {
  if (!job.needs_policy_approval && !job.needs_booking_approval)
    return fail(Code::invalid, "job {} does not need an approval", job.id);
  if (job.approved() && !is_final(job.state)) return Approved{std::move(job), true};
  return fail(Code::conflict, "job {} is {}; there is nothing left to approve", job.id, word(job.state));
}

// Judges again what would run now. Refused: cancelled. Other reasons than the requester was told: told anew.
Result<void> still_as_asked(const Seams& s, const Job& job) {
  auto decision = TRY(s.judge.judge(job.action, job.request, actor_of(job), judged_at(job, s.clock.now())));
  if (decision.cause) return Failure(policy::denied(decision));
  auto digest = TRY(covered_digest(s, job.action, job.request, decision));
  if (digest == job.approval_digest) return {};
  if (decision.gated && decision.verdict == policy::Verdict::deny) {
    TRY(cancel_refused(s, job, decision));
    return fail(Code::conflict, "the rules refuse this change now; the job was cancelled");
  }
  TRY(void_approval(s, job, decision, digest));
  return fail(Code::conflict,
              "the rules changed since this was requested; read the job again, then approve it");
}

// Sets the flags that `what` names and that are still open.
struct Flags {
  bool policy;
  bool booking;
};
Flags open_flags(const Job& job, Approve what) {
  return {job.needs_policy_approval && !job.policy_approval && what != Approve::booking,
          job.needs_booking_approval && !job.booking_approval && what != Approve::policy};
}

Result<void> grant(const Seams& s, db::Transaction& tx, const identity::Principal& who, Job& job,
                   Flags flags) {
  auto now = s.clock.now();
  for (auto [set, column, slot] : {std::tuple(flags.policy, "policy", &job.policy_approval),
                                   std::tuple(flags.booking, "booking", &job.booking_approval)}) {
    if (!set) continue;
    auto changed = TRY(tx.exec(
        fmt::format("UPDATE jobs SET {0}_approved_by = $2, {0}_approved_at = $3 WHERE id = $1 AND state = "
                    "'awaiting_approval' AND {0}_approved_by IS NULL AND approval_digest = $4",
                    column),
        {job.id, who.username, to_micros(now), job.approval_digest}));
    if (changed != 1) return fail(Code::conflict, "job {} changed meanwhile; read it again", job.id);
    *slot = Approval{who.username, now};
  }
  auto gates = flags.policy && flags.booking ? "policy, booking" : flags.policy ? "policy" : "booking";
  TRY(s.audit.append(tx, audit::by(who, "change_approved", job.name, details_of(job, gates))));
  if (!job.approved()) return {};
  auto next = job.run_at && *job.run_at > now ? State::scheduled : State::pending;
  if (!TRY(transition(tx, job.id, {State::awaiting_approval}, next)))
    return fail(Code::conflict, "job {} changed meanwhile; read it again", job.id);
  job.state = next;
  return {};
}

bool too_late(const Job& job, Time now) {
  return (job.approval_expires_at && *job.approval_expires_at <= now) ||
         (job.window_ends_at && *job.window_ends_at <= now);
}

}  // namespace

Result<Approved> Jobs::approve(const identity::Principal& who, const std::string& id, Approve what) {
  return each_of<Approved>(
      s_, id, [](const Job& job) { return job.state == State::awaiting_approval; },
      [&](const std::string& one) { return approve_one(who, one, what); });
}

Result<Approved> Jobs::approve_one(const identity::Principal& who, const std::string& id, Approve what) {
  auto job = TRY(db::read<Job>(s_.sql, [&](db::Transaction& tx) { return need_job(tx, id); }));
  TRY(may_decide(who, job));
  if (job.state != State::awaiting_approval) return not_waiting(std::move(job));
  if (too_late(job, s_.clock.now()))
    return fail(Code::conflict, "job {} can no longer be approved: its time is over", job.id);
  TRY(still_as_asked(s_, job));
  return db::write<Approved>(s_.sql, [&](db::Transaction& tx) -> Result<Approved> {
    auto current = TRY(need_job(tx, id));
    if (current.state != State::awaiting_approval) return not_waiting(std::move(current));
    if (current.approval_digest != job.approval_digest)
      return fail(Code::conflict, "job {} changed meanwhile; read it again", job.id);
    auto flags = open_flags(current, what);
    if (!flags.policy && !flags.booking) return Approved{std::move(current), true};
    TRY(grant(s_, tx, who, current, flags));
    return Approved{std::move(current), false};
  });
}

OrderedJson to_json(const Approved& approved) {
  const auto& job = approved.job;
  const auto& last = job.booking_approval ? job.booking_approval : job.policy_approval;
  OrderedJson out;
  out["job_id"] = job.id;
  out["status"] = word(job.state);
  out["approved_at"] = last ? OrderedJson(format_iso(last->at)) : OrderedJson(nullptr);
  out["approved_by"] = last ? OrderedJson(last->by) : OrderedJson(nullptr);
  out["already"] = approved.already;
  return out;
}

Result<Job> Jobs::reject(const identity::Principal& who, const std::string& id, const std::string& why) {
  return each_of<Job>(
      s_, id, [](const Job& job) { return job.state == State::awaiting_approval; },
      [&](const std::string& one) { return reject_one(who, one, why); });
}

Result<Job> Jobs::reject_one(const identity::Principal& who, const std::string& id, const std::string& why) {
  return db::write<Job>(s_.sql, [&](db::Transaction& tx) -> Result<Job> {
    auto job = TRY(need_job(tx, id));
    TRY(may_decide(who, job));
    auto done = TRY(transition(
        tx, id, {State::awaiting_approval}, State::rejected,
        {", reason = 'rejected', message = $3, completed_at = $4", {why, to_micros(s_.clock.now())}, ""}));
    if (!done)
      return fail(Code::conflict, "job {} is {}; only a job that awaits approval can be rejected", id,
                  word(job.state));
    auto details = details_of(job, "");
    details["why"] = why;
    TRY(s_.audit.append(tx, audit::by(who, "change_rejected", job.name, std::move(details))));
    return need_job(tx, id);
  });
}

Result<std::int64_t> approval_expiry_hours(const Seams& s) {
  return std::max<std::int64_t>(1, TRY(s.settings.integer("approval_expiry_hours", kExpiryHours)));
}

Result<std::string> covered_digest(const Seams& s, const std::string& action, const Json& request,
                                   const policy::Decision& decision) {
  if (decision.gated) return s.judge.approval_digest(action, request);
  return "not_gated:" + crypto::to_hex(crypto::sha256(action + "\n" + dump_json(request)));
}

Result<void> cancel_refused(const Seams& s, const Job& job, const policy::Decision& decision) {
  return s.sql.write([&](db::Transaction& tx) -> Result<void> {
    auto reasons = dump_json(OrderedJson(decision.reasons));
    auto done = TRY(transition(
        tx, job.id, {job.state}, State::cancelled,
        {", reason = 'policy', message = $3, completed_at = $4, lease_owner = NULL, lease_until = NULL",
         {"refused by the rules: " + reasons, to_micros(s.clock.now())},
         ""}));
    if (!done) return {};
    auto details = policy::audit_details(decision);
    details["job_id"] = job.id;
    details["request"] = OrderedJson(job.request);
    TRY(s.audit.append(
        tx, {job.created_by, fmt::format("{}:denied", job.action), job.name, std::move(details), "", ""}));
    return {};
  });
}

Result<void> void_approval(const Seams& s, const Job& job, const policy::Decision& decision,
                           const std::string& digest) {
  bool held = decision.gated && decision.verdict == policy::Verdict::needs_approval &&
              decision.enforce_needs_approval;
  bool waits = held || job.needs_booking_approval;
  auto now = s.clock.now();
  log::info("approval_voided", {{"job", job.id}, {"action", job.action}});
  auto next = waits                             ? State::awaiting_approval
              : job.run_at && *job.run_at > now ? State::scheduled
                                                : State::pending;
  auto expires = now + std::chrono::hours(TRY(approval_expiry_hours(s)));
  auto reasons = held ? decision.approval_reasons : std::vector<std::string>();
  return s.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(
        tx.exec("UPDATE jobs SET state = $2, needs_policy_approval = $3, approval_reasons = $4, "
                "approval_digest = $5, "
                "approval_expires_at = $6, policy_approved_by = NULL, policy_approved_at = NULL, "
                "booking_approved_by = NULL, "
                "booking_approved_at = NULL, lease_owner = NULL, lease_until = NULL, message = 'the rules "
                "changed: it has to be "
                "approved again' WHERE id = $1 AND state = $7",
                {job.id, std::string(word(next)), std::int64_t{held}, dump_json(OrderedJson(reasons)), digest,
                 to_micros(expires), std::string(word(job.state))}));
    return {};
  });
}

}  // namespace dash::jobs
