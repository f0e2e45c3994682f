#include "core/jobs/job_request.hpp"

#include <algorithm>

#include "core/base/log.hpp"
#include "core/config/clouds.hpp"
#include "core/jobs/digest.hpp"
#include "core/policy/refusal.hpp"
#include "core/windows/window_gate.hpp"

namespace dash::jobs {
namespace {

constexpr std::int64_t kDefaultGraceMinutes = 60;  // without a window: as in the deployed dashboards

using policy::Decision;
using policy::Verdict;
using Reasons = std::vector<std::string>;

// The entry is durable before any client reads the refusal.
Failure refuse(const Deps& deps, const JobRequest& request, std::size_t i, Error error, OrderedJson details) {
  auto written = deps.audit.append(audit_entry(request, i, "denied", std::move(details)));
  return Failure(written ? std::move(error) : std::move(written).error());
}

// The items of a batch to which a verdict applies, as one refusal. Each reason occurs once: as the rule wrote
// it when it holds for every item of the batch, else after the names of its items.
struct CombinedDecision {
  Decision decision;  // the first such item's, with the reasons of all
  std::size_t first;  // its place in the plan
  Reasons names;      // of all of them, when it is a batch
};

Reasons reasons_with_names(const JobRequest& request, Verdict verdict, Reasons Decision::*reasons) {
  struct NamedReason {
    std::string reason, names;
    std::size_t items;
  };
  std::vector<NamedReason> collected;
  for (std::size_t i = 0; i < request.decisions.size(); ++i) {
    if (!request.decisions[i].gated || request.decisions[i].verdict != verdict) continue;
    for (const auto& reason : request.decisions[i].*reasons) {
      const auto& name = request.resolved.items[i].name;
      auto it = std::ranges::find(collected, reason, &NamedReason::reason);
      if (it == collected.end())
        collected.push_back({reason, name, 1});
      else
        it->names += ", " + name, ++it->items;
    }
  }
  Reasons out;
  for (const auto& [reason, names, items] : collected)
    out.push_back(items == request.resolved.items.size() ? reason : fmt::format("{}: {}", names, reason));
  return out;
}

std::optional<CombinedDecision> combine_decisions(const JobRequest& request, Verdict verdict) {
  std::optional<CombinedDecision> out;
  for (std::size_t i = 0; i < request.decisions.size(); ++i) {
    const auto& decision = request.decisions[i];
    if (!decision.gated || decision.verdict != verdict) continue;
    if (!out) out = CombinedDecision{decision, i, {}};
    if (request.resolved.is_batch) out->names.push_back(request.resolved.items[i].name);
  }
  // A failure of the engine is reported once, for all items.
  if (!out || !request.resolved.is_batch || out->decision.cause) return out;
  out->decision.reasons = reasons_with_names(request, verdict, &Decision::reasons);
  out->decision.approval_reasons = reasons_with_names(request, verdict, &Decision::approval_reasons);
  return out;
}

Failure refuse(const Deps& deps, const JobRequest& request, const CombinedDecision& what, Error error) {
  auto details = policy::audit_details(what.decision);
  if (request.resolved.is_batch) details["names"] = what.names;
  return refuse(deps, request, what.first, std::move(error), std::move(details));
}

// A change that the window admits must start before it closes.
Result<void> check_change_window(const Deps& deps, JobRequest& request) {
  if (!request.resolved.workgroup) return {};
  if (!TRY(policy::live_settings(deps.settings))->lists(request.action->name)) return {};
  const auto& workgroup = *request.resolved.workgroup;
  auto answer = TRY(windows::check_workgroup_window(*TRY(deps.windows.rule_of(workgroup)), workgroup,
                                                    request.time_range, request.now));
  if (answer.time_range) request.time_range = answer.time_range;
  if (!answer.refusal) return {};
  return refuse(
      deps, request, 0, window_error(*answer.refusal),
      {{"error", "change_window"}, {"reasons", {answer.refusal->reason}}, {"workgroup", workgroup}});
}

Result<void> check_policy(const Deps& deps, JobRequest& request) {
  auto deadline = deps.gate.deadline();  // one for all items
  for (const auto& item : request.resolved.items)
    request.decisions.push_back(TRY(
        deps.gate.evaluate(request.action->name, item.request, request.actor, request.run_time(), deadline)));
  if (auto denied = combine_decisions(request, Verdict::deny))
    return refuse(deps, request, *denied, policy::denied(denied->decision));
  auto held = combine_decisions(request, Verdict::needs_approval);
  if (!held) return {};
  if (!held->decision.enforce_needs_approval) {
    log::info("jobs.needs_approval_not_enforced",
              {{"action", request.action->name},
               {"name", request.resolved.items[held->first].name},
               {"username", request.principal.username},
               {"request_id", request.principal.request_id},
               {"reasons", dump_json(OrderedJson(held->decision.approval_reasons))}});
    return {};
  }
  if (!request.action->approvable || request.resolved.is_batch)
    return refuse(deps, request, *held, policy::approval_not_expressible(held->decision));
  request.needs_policy_approval = true;
  return {};
}

}  // namespace

State JobRequest::first_state() const {
  if (needs_approval()) return State::awaiting_approval;
  return is_scheduled() ? State::scheduled : State::pending;
}

Result<std::optional<windows::TimeRange>> requested_time_range(const Deps& deps, const Json& body, Time now) {
  auto booking = TRY(windows::parse_schedule_request(body));
  if (booking.empty()) return std::optional<windows::TimeRange>();
  auto grace = TRY(deps.settings.integer("change_window_grace_minutes", kDefaultGraceMinutes));
  return db::read<std::optional<windows::TimeRange>>(deps.sql, [&](db::Transaction& tx) {
    return resolve_schedule(tx, deps.windows, booking, now, std::chrono::minutes(grace));
  });
}

// A scheduled change waits for another user's approval when the setting demands it, whatever the rules
// decide.
Result<void> authorize(const Deps& deps, JobRequest& request) {
  TRY(check_change_window(deps, request));
  TRY(check_policy(deps, request));
  request.needs_booking_approval =
      request.is_scheduled() && TRY(deps.settings.flag("change_approval_required", false));
  return {};
}

void set_times(const JobRequest& request, Job& job) {
  job.run_at = request.is_scheduled() ? std::optional(request.time_range->start) : std::nullopt;
  job.window_ends_at = request.time_range ? std::optional(request.time_range->end) : std::nullopt;
  job.change_window_id = request.time_range ? request.time_range->window_id : std::nullopt;
}

std::string digest_of(const JobRequest& request, const Job& job, std::size_t i) {
  return request.needs_approval() ? covered_digest(job, request.decisions[i]) : std::string();
}

std::string receipt_of(const Decision& decision) {
  if (!decision.gated) return "not_gated";
  return fmt::format("{}:{}:{}", policy::word(decision.verdict), decision.input_digest,
                     decision.policy_digest);
}

audit::Event audit_entry(const JobRequest& request, std::size_t i, std::string_view what,
                         OrderedJson details) {
  const auto& item = request.resolved.items[i];
  details["request"] = OrderedJson(item.request);
  if (request.resolved.is_batch) details["count"] = request.resolved.items.size();
  return audit::make_event(request.principal, fmt::format("{}:{}", request.action->name, what), item.name,
                           std::move(details));
}

}  // namespace dash::jobs
