// The one door to a gated change.
#include <algorithm>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/config/clouds.hpp"
#include "core/crypto/hash.hpp"
#include "core/jobs/jobs.hpp"
#include "core/jobs/store.hpp"
#include "core/jobs/teardown.hpp"
#include "core/jobs/window_gate.hpp"
#include "core/policy/refusal.hpp"

namespace dash::jobs {
namespace {

constexpr std::int64_t kGraceMinutes = 60;  // of a booking without a window: the peer's default

using policy::Decision;
using policy::Verdict;

// A submission on its way to being a job.
struct Draft {
  const Action* action;
  const identity::Principal& who;
  Plan plan;
  std::optional<Slot> slot;
  Time now;
  std::vector<Decision> decisions;  // one an item
  std::string digest;               // what an approval would cover
  bool held_by_policy = false;
  bool held_by_booking = false;

  Time at() const { return slot ? std::max(slot->start, now) : now; }
  bool booked() const { return slot && slot->start > now; }
};

audit::Entry entry_of(const Draft& draft, std::string_view what, OrderedJson details) {
  details["request"] = OrderedJson(draft.plan.items.front().request);
  if (draft.plan.items.size() > 1) details["count"] = draft.plan.items.size();
  return audit::by(draft.who, fmt::format("{}:{}", draft.action->name, what), draft.plan.items.front().name,
                   std::move(details));
}

// The entry is durable before anybody reads the refusal.
Failure refuse(const Seams& s, const Draft& draft, Error error, OrderedJson details) {
  auto written = s.audit.append(entry_of(draft, "denied", std::move(details)));
  return Failure(written ? std::move(error) : std::move(written).error());
}

void add_missing(std::vector<std::string>& to, const std::vector<std::string>& from) {
  for (const auto& text : from)
    if (std::ranges::find(to, text) == to.end()) to.push_back(text);
}

// All or nothing: the first item's decision of that verdict, with the reasons of the others.
std::optional<Decision> combined(const std::vector<Decision>& decisions, Verdict verdict) {
  std::optional<Decision> out;
  for (const auto& decision : decisions) {
    if (!decision.gated || decision.verdict != verdict) continue;
    if (!out) out = decision;
    add_missing(out->reasons, decision.reasons);
    add_missing(out->approval_reasons, decision.approval_reasons);
  }
  return out;
}

Result<void> check_workgroup(db::Transaction& tx, const identity::Principal& who,
                             const std::optional<std::string>& name) {
  if (!name) return {};
  if (TRY(tx.query("SELECT 1 FROM workgroups WHERE name = $1", {*name})).empty())
    return fail(Code::invalid, "there is no workgroup \"{}\"", *name);
  if (!who.is_admin && !who.member_of(*name))
    return fail(Code::forbidden, "you are not a member of the workgroup \"{}\"", *name);
  return {};
}

// The list that the windows share with the gate holds whether or not the gate is on. One that cannot be read
// lists everything.
Result<bool> listed(const Seams& s, std::string_view action) {
  auto list = s.settings.list(std::string(policy::kGatedKey));
  if (!list)
    return list.error().code == Code::invalid ? Result<bool>(true) : Result<bool>(Failure(list.error()));
  return std::ranges::any_of(*list,
                             [&](const auto& word) { return config::canonical_action(word) == action; });
}

Result<Draft> draft_of(const Seams& s, const identity::Principal& who, const Action& action,
                       const Submission& submission) {
  auto grace =
      std::max<std::int64_t>(1, TRY(s.settings.integer("change_window_grace_minutes", kGraceMinutes)));
  auto setting = [&](const std::string& key) { return s.settings.text(key); };
  Draft draft{&action, who, {}, {}, s.clock.now(), {}, {}, false, false};
  auto booking = TRY(booking_of(submission.body));
  if (action.surface != Surface::teardown) draft.plan = TRY(plan(action, submission.body, setting));
  TRY(s.sql.read([&](db::Transaction& tx) -> Result<void> {
    if (action.surface == Surface::teardown) {
      draft.plan = TRY(plan_teardown(tx, who, action, submission, setting));
    } else {
      TRY(check_workgroup(tx, who, draft.plan.workgroup));
    }
    draft.slot = TRY(book(tx, s.windows, booking, draft.now, std::chrono::minutes(grace)));
    return {};
  }));
  return draft;
}

// A change that is admitted because the window is open has to start before it closes.
Result<void> pass_windows(const Seams& s, Draft& draft) {
  if (!draft.plan.workgroup || !TRY(listed(s, draft.action->name))) return {};
  auto answer = TRY(db::read<WindowAnswer>(s.sql, [&](db::Transaction& tx) {
    return ask_window(tx, s.windows, *draft.plan.workgroup, draft.slot, draft.now);
  }));
  if (answer.open) draft.slot = answer.open;
  if (!answer.refusal) return {};
  return refuse(s, draft, refused(*answer.refusal),
                {{"error", "change_window"},
                 {"reasons", {answer.refusal->reason}},
                 {"workgroup", *draft.plan.workgroup}});
}

Result<void> pass_gate(const Seams& s, Draft& draft) {
  for (const auto& item : draft.plan.items)
    draft.decisions.push_back(TRY(s.judge.judge(draft.action->name, item.request,
                                                {draft.who.username, draft.who.is_admin}, draft.at())));
  if (auto denied = combined(draft.decisions, Verdict::deny))
    return refuse(s, draft, policy::denied(*denied), policy::audit_details(*denied));
  auto held = combined(draft.decisions, Verdict::needs_approval);
  if (!held) return {};
  if (!held->enforce_needs_approval) {
    log::info("needs_approval_not_enforced",
              {{"action", draft.action->name}, {"name", draft.plan.items.front().name}});
    return {};
  }
  if (!draft.action->approvable || draft.plan.items.size() > 1)
    return refuse(s, draft, policy::approval_not_expressible(*held), policy::audit_details(*held));
  draft.held_by_policy = true;
  return {};
}

// A booked change waits for somebody else when the setting says so, whatever the rules say.
Result<void> hold_booking(const Seams& s, Draft& draft) {
  draft.held_by_booking = draft.booked() && TRY(s.settings.flag("change_approval_required", false));
  if (draft.held_by_policy || draft.held_by_booking)
    draft.digest = TRY(covered_digest(s, std::string(draft.action->name), draft.plan.items.front().request,
                                      draft.decisions.front()));
  return {};
}

std::string receipt_of(const Decision& decision) {
  if (!decision.gated) return "not_gated";
  return fmt::format("{}:{}:{}", policy::word(decision.verdict), decision.input_digest,
                     decision.policy_digest);
}

State first_state(const Draft& draft) {
  if (draft.held_by_policy || draft.held_by_booking) return State::awaiting_approval;
  return draft.booked() ? State::scheduled : State::pending;
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
  job.batch_id = batch;
  job.request = item.request;
  job.state = first_state(draft);
  job.created_at = draft.now;
  job.created_by = draft.who.username;
  job.created_by_admin = draft.who.is_admin;
  if (draft.slot) {
    if (draft.booked()) job.run_at = draft.slot->start;
    job.window_ends_at = draft.slot->end;
    job.change_window_id = draft.slot->window_id;
  }
  job.needs_policy_approval = draft.held_by_policy, job.needs_booking_approval = draft.held_by_booking;
  if (draft.held_by_policy) job.approval_reasons = draft.decisions[i].approval_reasons;
  job.approval_digest = draft.digest;
  return job;
}

Result<Submitted> insert(const Seams& s, const Draft& draft) {
  auto hours = TRY(approval_expiry_hours(s));
  auto batch = draft.plan.items.size() > 1 ? std::optional(crypto::random_hex(6)) : std::nullopt;
  return db::write<Submitted>(s.sql, [&](db::Transaction& tx) -> Result<Submitted> {
    Submitted out;
    for (std::size_t i = 0; i < draft.plan.items.size(); ++i) {
      auto job = job_of(draft, i, batch);
      if (job.state == State::awaiting_approval)
        job.approval_expires_at = draft.now + std::chrono::hours(hours);
      TRY(insert_job(tx, s.store, job, draft.plan.parameters));
      out.jobs.push_back(std::move(job));
    }
    if (draft.held_by_policy) {
      auto details = policy::audit_details(draft.decisions.front());
      details["job_id"] = out.jobs.front().id;
      TRY(s.audit.append(tx, entry_of(draft, "needs_approval", std::move(details))));
    }
    return out;
  });
}

std::string_view message_of(State state) {
  if (state == State::awaiting_approval) return "Waiting for the approval of somebody else.";
  return state == State::scheduled ? "Booked." : "Submitted.";
}

}  // namespace

Result<Submitted> Jobs::submit(const identity::Principal& who, const Submission& submission) {
  auto name = config::canonical_action(trim(submission.action));
  const auto* action = find_action(name);
  if (!action) return fail(Code::not_found, "there is no action \"{}\"", submission.action);
  auto draft = TRY(draft_of(s_, who, *action, submission));
  TRY(pass_windows(s_, draft));
  TRY(pass_gate(s_, draft));
  TRY(hold_booking(s_, draft));
  return insert(s_, draft);
}

OrderedJson to_json(const Submitted& submitted) {
  const auto& first = submitted.jobs.front();
  OrderedJson out;
  out["job_id"] = first.id;
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
