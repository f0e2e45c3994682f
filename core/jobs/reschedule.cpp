// A job that has not begun, or was missed, is booked anew.
#include <algorithm>

#include "core/jobs/batch.hpp"
#include "core/jobs/draft.hpp"
#include "core/jobs/store.hpp"
#include "core/policy/refusal.hpp"

namespace dash::jobs {
namespace {

constexpr State kMovable[] = {State::awaiting_approval, State::scheduled, State::pending, State::missed,
                              State::expired};

bool may_move(const Job& job) { return std::ranges::find(kMovable, job.state) != std::end(kMovable); }

Failure moved_meanwhile(const std::string& id) {
  return fail(Code::conflict, "job {} changed meanwhile; read it again", id);
}

// The change as it was judged first, by whom it was asked for.
Result<Draft> draft_of(const Seams& s, const Principal& who, const Job& job, const Json& body) {
  const auto* action = find_action(job.action);
  if (!action) return fail(Code::conflict, "job {} is of a kind that this version does not know", job.id);
  auto now = s.clock.now();
  auto slot = TRY(slot_of(s, body, now));
  Plan plan{{{job.name, job.region, job.request, Json::object()}}, job.workgroup, job.batch_id.has_value()};
  policy::Actor actor{job.created_by, job.created_by_admin, who.request_id};
  return Draft{action, who, std::move(actor), std::move(plan), std::move(slot), now};
}

db::Value or_null(const std::optional<Time>& time) {
  return time ? db::Value(to_micros(*time)) : db::Value(nullptr);
}

// Counts only while nobody else rescheduled the job or voided an approval of it.
Result<Change> change_of(const Seams& s, const Draft& draft, Job job) {
  set_times(draft, job);
  const auto& decision = draft.decisions.front();
  auto expires = draft.now + std::chrono::hours(TRY(approval_expiry_hours(s)));
  auto digest = digest_of(draft, job, 0);
  auto reasons = draft.held_by_policy ? decision.approval_reasons : std::vector<std::string>();
  return Change{
      ", run_at = $3, window_ends_at = $4, change_window_id = $5, needs_policy_approval = $6, "
      "needs_booking_approval = $7, approval_reasons = $8, approval_digest = $9, approval_expires_at = $10, "
      "receipt = $11, revision = revision + 1, policy_approved_by = NULL, policy_approved_at = NULL, "
      "booking_approved_by = NULL, "
      "booking_approved_at = NULL, retry_after = NULL, reason = NULL, message = '', completed_at = NULL",
      {or_null(job.run_at), or_null(job.window_ends_at),
       job.change_window_id ? db::Value(*job.change_window_id) : db::Value(nullptr),
       std::int64_t{draft.held_by_policy}, std::int64_t{draft.held_by_booking},
       dump_json(OrderedJson(reasons)), std::move(digest),
       or_null(draft.held() ? std::optional(expires) : std::nullopt), receipt_of(decision), job.revision},
      " AND revision = $12"};
}

Result<void> record(const Seams& s, db::Transaction& tx, const Draft& draft, const Job& before,
                    const Job& after) {
  TRY(tx.exec("INSERT INTO job_reschedules (job_id, username) VALUES ($1, $2) ON CONFLICT DO NOTHING",
              {after.id, draft.who.username}));
  if (draft.held_by_policy) {
    auto details = policy::audit_details(draft.decisions.front());
    details["job_id"] = after.id;
    TRY(s.audit.append(tx, entry_of(draft, 0, "needs_approval", std::move(details))));
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
  TRY(s.audit.append(tx, audit::by(draft.who, "change_rescheduled", after.name, std::move(details))));
  return {};
}

}  // namespace

Result<Job> Jobs::reschedule(const Principal& who, const std::string& id, const Json& body) {
  return each_of(s_, id, may_move, [&](const std::string& one) { return reschedule_one(who, one, body); });
}

Result<Job> Jobs::reschedule_one(const Principal& who, const std::string& id, const Json& body) {
  auto job = TRY(db::read<Job>(s_.sql, [&](db::Transaction& tx) { return need_job(tx, id); }));
  if (!who.is_admin && who.username != job.created_by)
    return fail(Code::forbidden, "only its requester and admins may book a job anew");
  if (!may_move(job))
    return fail(Code::conflict, "job {} is {}; only what has not begun can be booked anew", id,
                word(job.state));
  auto draft = TRY(draft_of(s_, who, job, body));
  TRY(pass(s_, draft));
  auto change = TRY(change_of(s_, draft, job));
  return db::write<Job>(s_.sql, [&](db::Transaction& tx) -> Result<Job> {
    if (!TRY(transition(tx, id, {job.state}, draft.first_state(), change))) return moved_meanwhile(id);
    auto after = TRY(need_job(tx, id));
    TRY(record(s_, tx, draft, job, after));
    return after;
  });
}

}  // namespace dash::jobs
