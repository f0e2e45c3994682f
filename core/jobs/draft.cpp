#include "core/jobs/draft.hpp"

#include <algorithm>

#include "core/base/log.hpp"
#include "core/config/clouds.hpp"
#include "core/jobs/digest.hpp"
#include "core/jobs/teardown.hpp"
#include "core/policy/refusal.hpp"
#include "core/windows/window_gate.hpp"

namespace dash::jobs {
namespace {

constexpr std::int64_t kGraceMinutes = 60;  // of a booking without a window: the peer's default

using policy::Decision;
using policy::Verdict;
using Reasons = std::vector<std::string>;

// The entry is durable before anybody reads the refusal.
Failure refuse(const Seams& s, const Draft& draft, std::size_t i, Error error, OrderedJson details) {
  auto written = s.audit.append(entry_of(draft, i, "denied", std::move(details)));
  return Failure(written ? std::move(error) : std::move(written).error());
}

// The items of a batch to which a verdict applies, as one refusal: each reason once, as the rule wrote it
// when it holds for every item of the batch, else with the names of its items before it.
struct Combined {
  Decision decision;  // the first such item's, with the reasons of all
  std::size_t first;  // its place in the plan
  Reasons names;      // of all of them, when it is a batch
};

Reasons with_names(const Draft& draft, Verdict verdict, Reasons Decision::*reasons) {
  struct Told {
    std::string reason, names;
    std::size_t items;
  };
  std::vector<Told> told;
  for (std::size_t i = 0; i < draft.decisions.size(); ++i) {
    if (!draft.decisions[i].gated || draft.decisions[i].verdict != verdict) continue;
    for (const auto& reason : draft.decisions[i].*reasons) {
      const auto& name = draft.plan.items[i].name;
      auto known = std::ranges::find(told, reason, &Told::reason);
      if (known == told.end())
        told.push_back({reason, name, 1});
      else
        known->names += ", " + name, ++known->items;
    }
  }
  Reasons out;
  for (const auto& [reason, names, items] : told)
    out.push_back(items == draft.plan.items.size() ? reason : fmt::format("{}: {}", names, reason));
  return out;
}

std::optional<Combined> combined(const Draft& draft, Verdict verdict) {
  std::optional<Combined> out;
  for (std::size_t i = 0; i < draft.decisions.size(); ++i) {
    const auto& decision = draft.decisions[i];
    if (!decision.gated || decision.verdict != verdict) continue;
    if (!out) out = Combined{decision, i, {}};
    if (draft.plan.is_batch) out->names.push_back(draft.plan.items[i].name);
  }
  // An engine that could not judge says so once, whatever it was asked.
  if (!out || !draft.plan.is_batch || out->decision.cause) return out;
  out->decision.reasons = with_names(draft, verdict, &Decision::reasons);
  out->decision.approval_reasons = with_names(draft, verdict, &Decision::approval_reasons);
  return out;
}

Failure refuse(const Seams& s, const Draft& draft, const Combined& what, Error error) {
  auto details = policy::audit_details(what.decision);
  if (draft.plan.is_batch) details["names"] = what.names;
  return refuse(s, draft, what.first, std::move(error), std::move(details));
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

// A change that the window admits has to start before it closes.
Result<void> pass_windows(const Seams& s, Draft& draft) {
  if (!draft.plan.workgroup || !TRY(listed(s, draft.action->name))) return {};
  auto answer = TRY(db::read<windows::WindowAnswer>(s.sql, [&](db::Transaction& tx) {
    return windows::ask_window(tx, s.windows, *draft.plan.workgroup, draft.slot, draft.now);
  }));
  if (answer.slot) draft.slot = answer.slot;
  if (!answer.refusal) return {};
  return refuse(s, draft, 0, refused(*answer.refusal),
                {{"error", "change_window"},
                 {"reasons", {answer.refusal->reason}},
                 {"workgroup", *draft.plan.workgroup}});
}

Result<void> pass_gate(const Seams& s, Draft& draft) {
  auto deadline = s.judge.deadline();  // one for all items
  for (const auto& item : draft.plan.items)
    draft.decisions.push_back(
        TRY(s.judge.judge(draft.action->name, item.request, draft.actor, draft.at(), deadline)));
  if (auto denied = combined(draft, Verdict::deny))
    return refuse(s, draft, *denied, policy::denied(denied->decision));
  auto held = combined(draft, Verdict::needs_approval);
  if (!held) return {};
  if (!held->decision.enforce_needs_approval) {
    log::info("needs_approval_not_enforced",
              {{"action", draft.action->name},
               {"name", draft.plan.items[held->first].name},
               {"username", draft.who.username},
               {"request_id", draft.who.request_id},
               {"reasons", dump_json(OrderedJson(held->decision.approval_reasons))}});
    return {};
  }
  if (!draft.action->approvable || draft.plan.is_batch)
    return refuse(s, draft, *held, policy::approval_not_expressible(held->decision));
  draft.held_by_policy = true;
  return {};
}

}  // namespace

State Draft::first_state() const {
  if (held()) return State::awaiting_approval;
  return booked() ? State::scheduled : State::pending;
}

Result<std::optional<windows::Slot>> slot_of(const Seams& s, const Json& body, Time now) {
  auto booking = TRY(booking_of(body));
  if (booking.empty()) return std::optional<windows::Slot>();
  auto grace =
      std::max<std::int64_t>(1, TRY(s.settings.integer("change_window_grace_minutes", kGraceMinutes)));
  return db::read<std::optional<windows::Slot>>(s.sql, [&](db::Transaction& tx) {
    return book(tx, s.windows, booking, now, std::chrono::minutes(grace));
  });
}

// A booked change waits for somebody else when the setting says so, whatever the rules say.
Result<void> pass(const Seams& s, Draft& draft) {
  TRY(pass_windows(s, draft));
  TRY(pass_gate(s, draft));
  draft.held_by_booking = draft.booked() && TRY(s.settings.flag("change_approval_required", false));
  return {};
}

void set_times(const Draft& draft, Job& job) {
  job.run_at = draft.booked() ? std::optional(draft.slot->start) : std::nullopt;
  job.window_ends_at = draft.slot ? std::optional(draft.slot->end) : std::nullopt;
  job.change_window_id = draft.slot ? draft.slot->window_id : std::nullopt;
}

std::string digest_of(const Draft& draft, const Job& job, std::size_t i) {
  return draft.held() ? covered_digest(job, draft.decisions[i]) : std::string();
}

std::string receipt_of(const Decision& decision) {
  if (!decision.gated) return "not_gated";
  return fmt::format("{}:{}:{}", policy::word(decision.verdict), decision.input_digest,
                     decision.policy_digest);
}

audit::Entry entry_of(const Draft& draft, std::size_t i, std::string_view what, OrderedJson details) {
  const auto& item = draft.plan.items[i];
  details["request"] = OrderedJson(item.request);
  if (draft.plan.is_batch) details["count"] = draft.plan.items.size();
  return audit::by(draft.who, fmt::format("{}:{}", draft.action->name, what), item.name, std::move(details));
}

}  // namespace dash::jobs
