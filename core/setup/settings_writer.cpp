#include "core/setup/settings_writer.hpp"

#include "core/storage/store/backends.hpp"

namespace dash::setup {
namespace {

constexpr int kMaxAttempts = 5;
constexpr std::string_view kConcurrentChange =
    "somebody else changed the storage settings at the same time; send it again";

// Removes the refused keys from the changes. Returns how many there were.
std::size_t omit_refused(const Refusal& refusal, config::Changes& changes,
                         std::map<std::string, std::string>& refused) {
  std::size_t count = 0;
  for (const auto& key : refusal.keys) {
    count += changes.erase(key);
    refused[key] = refusal.reason;
  }
  return count;
}

Result<void> authorize_abandon(const WriteRequest& request) {
  if (!request.state.abandon) return {};
  TRY(require_admin(request.principal));
  if (request.principal.via == Via::token)
    return fail(Code::forbidden,
                "A token cannot give infrastructure state up. Sign in as an administrator, or work on the "
                "data folder.");
  return {};
}

}  // namespace

Result<StateAssessment> SettingsWriter::assess_state(const RuleInput& input, const WriteRequest& request,
                                                     WritePlan& plan) {
  using Ids = std::vector<std::string>;
  return state_.assess(input, request.state, [&]() -> Result<Ids> {
    if (!plan.lease) plan.lease = TRY(jobs::SwitchLease::take(sql_, clock_, request.principal.username));
    return db::read<Ids>(sql_, [&](db::Transaction& tx) { return state_.running_jobs(tx); });
  });
}

// Leaves out what the rules refuse, until the rest obeys all of them: another key may have needed a removed
// one.
Result<void> SettingsWriter::apply_rules(WritePlan& plan, const WriteRequest& request, bool checks_stores) {
  for (;;) {
    auto after = with_changes(plan.before, plan.changes);
    RuleInput input{plan.before, after, plan.changes};
    auto refusal = first_refusal(rules_, input, false);
    if (!refusal && checks_stores) {
      auto assessed = TRY(assess_state(input, request, plan));
      plan.move = assessed.move;
      refusal = std::move(assessed.refusal);
    }
    if (!refusal) refusal = first_refusal(rules_, input, true);
    if (!refusal) return {};
    if (!request.omits_refused || omit_refused(*refusal, plan.changes, plan.refused) == 0)
      return Failure(std::move(refusal->error));
  }
}

Result<SettingsWriter::WritePlan> SettingsWriter::plan(const WriteRequest& request) {
  WritePlan plan;
  TRY(sql_.read([&](db::Transaction& tx) -> Result<void> {
    plan.before = TRY(store_.all(tx));
    plan.changes = TRY(request.make(tx, plan.before));
    return {};
  }));
  TRY(apply_rules(plan, request, true));
  if (plan.move.copies) {
    auto after = with_changes(plan.before, plan.changes);
    plan.state = TRY(state_.copy({plan.before, after, plan.changes}, request.state));
  }
  return plan;
}

Result<void> SettingsWriter::record_abandon(db::Transaction& tx, const WriteRequest& request,
                                            const WriteResult& result) {
  auto* from = storage::active_backend(result.before);
  auto after = with_changes(result.before, result.changes);
  auto* to = storage::active_backend(after);
  OrderedJson details{
      {"backend", from ? from->id : ""}, {"to", to ? to->id : ""}, {"change_id", result.change_id}};
  TRY(audit_.append(
      tx, audit::make_event(request.principal, "storage_state_abandon", std::nullopt, std::move(details))));
  return {};
}

Result<WriteResult> SettingsWriter::write(db::Transaction& tx, const WriteRequest& request,
                                          const WritePlan& plan, bool& is_stale) {
  if (request.begin) TRY(request.begin(tx));
  WritePlan now;
  now.before = TRY(store_.all(tx));
  now.changes = TRY(request.make(tx, now.before));
  for (const auto& [key, reason] : plan.refused)
    if (now.changes.erase(key) > 0) now.refused[key] = reason;
  TRY(apply_rules(now, request, false));
  is_stale = LiveState::deciding(plan.before, {}) != LiveState::deciding(now.before, {}) ||
             LiveState::deciding(plan.before, plan.changes) != LiveState::deciding(now.before, now.changes);
  if (is_stale) return fail(Code::conflict, "{}", kConcurrentChange);
  // A process that stood still has lost its lease, and a deploy may have begun.
  if (plan.move.leaves && (!TRY(plan.lease->is_held(tx)) || !TRY(state_.running_jobs(tx)).empty())) {
    is_stale = true;
    return fail(Code::conflict, "{}", kConcurrentChange);
  }
  WriteResult result{std::move(now.before), std::move(now.changes), std::move(now.refused), "",
                     plan.state.copied,     plan.state.left};
  result.change_id = TRY(store_.apply(tx, result.changes, {request.principal.username, request.origin}));
  if (plan.move.abandons) TRY(record_abandon(tx, request, result));
  if (request.record) TRY(request.record(tx, result));
  return result;
}

Result<WriteResult> SettingsWriter::write(const WriteRequest& request) {
  TRY(authorize_abandon(request));
  for (int attempt = 1;; ++attempt) {
    auto planned = TRY(plan(request));
    bool is_stale = false;
    auto written = db::write<WriteResult>(sql_, [&](db::Transaction& tx) -> Result<WriteResult> {
      is_stale = false;
      return write(tx, request, planned, is_stale);
    });
    if (!is_stale || attempt == kMaxAttempts) return written;
  }
}

}  // namespace dash::setup
