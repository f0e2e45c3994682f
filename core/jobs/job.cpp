#include "core/jobs/job.hpp"

#include <algorithm>
#include <array>

namespace dash::jobs {
namespace {

struct StateRow {
  State state;
  std::string_view word;
  bool final;
  std::vector<State> next;
};

// running → pending re-queues a dead worker's job. running and pending → awaiting_approval: the rules changed
// under an approval, or a plan waits for one. A job that has not begun may be rescheduled, and then keeps its state.
const std::vector<StateRow>& state_rows() {
  using enum State;
  static const std::vector<StateRow> kTable = {
      {awaiting_approval,
       "awaiting_approval",
       false,
       {awaiting_approval, scheduled, pending, rejected, expired, cancelled}},
      {scheduled, "scheduled", false, {scheduled, pending, missed, cancelled, awaiting_approval}},
      {pending, "pending", false, {pending, running, missed, cancelled, awaiting_approval, scheduled}},
      {running, "running", false, {completed, failed, cancelled, pending, awaiting_approval}},
      {completed, "completed", true, {}},
      {failed, "failed", true, {}},
      {cancelled, "cancelled", true, {}},
      {rejected, "rejected", true, {}},
      {expired, "expired", true, {scheduled, pending, awaiting_approval}},
      {missed, "missed", true, {scheduled, pending, awaiting_approval}},
  };
  return kTable;
}

const StateRow& row_of(State state) { return state_rows().at(static_cast<std::size_t>(state)); }

std::optional<std::string> text_at(const db::Row& row, std::size_t i) {
  return row.is_null(i) ? std::nullopt : std::optional(row.text(i));
}
std::optional<Time> time_at(const db::Row& row, std::size_t i) {
  return row.is_null(i) ? std::nullopt : std::optional(from_micros(row.integer(i)));
}
std::optional<int> integer_at(const db::Row& row, std::size_t i) {
  return row.is_null(i) ? std::nullopt : std::optional(static_cast<int>(row.integer(i)));
}
std::optional<Approval> approval_at(const db::Row& row, std::size_t i) {
  return row.is_null(i) ? std::nullopt
                        : std::optional(Approval{row.text(i), from_micros(row.integer(i + 1))});
}
// A document that a runner wrote.
Result<OrderedJson> json_at(const db::Row& row, std::size_t i) {
  if (row.is_null(i)) return OrderedJson(nullptr);
  return OrderedJson(TRY(parse_json(row.text(i))));
}

// By bytes where their total is known, else by items; 100 is left to a job that is completed. Null while no
// total is known.
OrderedJson percent_of(const OrderedJson& progress) {
  for (auto unit : {"bytes", "items"}) {
    auto total = progress.is_object() ? progress.value(fmt::format("{}_total", unit), std::uint64_t{0}) : 0;
    auto done = progress.is_object() ? progress.value(fmt::format("{}_done", unit), std::uint64_t{0}) : 0;
    if (total > 0) return static_cast<int>(std::min<std::uint64_t>(99, done * 100 / total));
  }
  return nullptr;
}

template <class T>
OrderedJson or_null(const std::optional<T>& value) {
  return value ? OrderedJson(*value) : OrderedJson(nullptr);
}
OrderedJson or_null(const std::optional<Time>& time) {
  return time ? OrderedJson(format_iso(*time)) : OrderedJson(nullptr);
}

OrderedJson approval_json(bool needed, const std::optional<Approval>& given) {
  OrderedJson out;
  out["required"] = needed;
  out["by"] = given ? OrderedJson(given->by) : OrderedJson(nullptr);
  out["at"] = given ? OrderedJson(format_iso(given->at)) : OrderedJson(nullptr);
  return out;
}

void add_details(OrderedJson& out, const Job& job) {
  for (const auto& [member, is_list] : kJobDetails) {
    auto name = std::string(member);
    out[name] = job.details.contains(name) ? job.details[name] : is_list ? OrderedJson::array() : nullptr;
  }
}

// Returns the API's derived word for a job that waits or has missed its time.
std::string_view schedule_state(const Job& job) {
  if (job.state == State::missed) return "missed";
  if (job.state == State::awaiting_approval) return "awaiting_approval";
  if (job.state == State::scheduled) return "scheduled";
  return "";
}

void add_schedule(OrderedJson& out, const Job& job) {
  out["schedule_state"] = schedule_state(job);
  out["scheduled_for"] = or_null(job.run_at);
  out["window_ends_at"] = or_null(job.window_ends_at);
  out["change_window_id"] = or_null(job.change_window_id);
  out["change_window_name"] = or_null(job.change_window_name);
  out["approval_required"] = job.needs_any_approval();
  auto last = job.last_approval();
  out["approved_at"] = last ? OrderedJson(format_iso(last->at)) : OrderedJson(nullptr);
  out["approved_by"] = last ? OrderedJson(last->by) : OrderedJson(nullptr);
  out["approval_reasons"] = job.approval_reasons;
  out["approval_digest"] =
      job.approval_digest.empty() ? OrderedJson(nullptr) : OrderedJson(job.approval_digest);
  out["approval_expires_at"] = or_null(job.approval_expires_at);
  out["approvals"] = {{"policy", approval_json(job.needs_policy_approval, job.policy_approval)},
                      {"booking", approval_json(job.needs_booking_approval, job.booking_approval)},
                      {"plan", approval_json(job.needs_plan_approval, job.plan_approval)}};
}

}  // namespace

const std::string kSelectJobs =
    R"(SELECT id, seq, action, receipt, workgroup, name, region, resource_id, batch_id, request, parameters,
         state, reason, message, created_at, created_by, created_by_admin,
         run_at, window_ends_at, change_window_id, needs_policy_approval, needs_booking_approval,
         approval_reasons, approval_digest, approval_expires_at,
         policy_approved_by, policy_approved_at, booking_approved_by, booking_approved_at,
         attempts, cancel_requested, started_at, completed_at, error,
         (SELECT w.name FROM change_windows w WHERE w.id = jobs.change_window_id), revision, progress, result,
         exit_status, exit_signal, details,
         needs_plan_approval, plan_approved_by, plan_approved_at, plan_digest
       FROM jobs )";

std::string_view word(State state) { return row_of(state).word; }

std::optional<State> parse_state(std::string_view text) {
  for (const auto& row : state_rows())
    if (row.word == text) return row.state;
  return std::nullopt;
}

bool is_final(State state) { return row_of(state).final; }
bool can_transition(State from, State to) {
  return std::ranges::find(row_of(from).next, to) != row_of(from).next.end();
}

Result<Job> row_to_job(const db::Row& row) {
  Job job;
  job.id = row.text(0), job.seq = row.integer(1), job.action = row.text(2), job.receipt = row.text(3);
  job.workgroup = text_at(row, 4), job.name = row.text(5), job.region = row.text(6),
  job.resource_id = text_at(row, 7);
  job.batch_id = text_at(row, 8);
  job.request = TRY(parse_json(row.text(9)));
  job.parameters = row.blob(10);
  auto state = parse_state(row.text(11));
  if (!state)
    return fail(Code::integrity, "job {} is in an unknown state; it was written by another version", job.id);
  job.state = *state;
  job.reason = text_at(row, 12), job.message = row.text(13);
  job.created_at = from_micros(row.integer(14)), job.created_by = row.text(15),
  job.created_by_admin = row.flag(16);
  job.run_at = time_at(row, 17), job.window_ends_at = time_at(row, 18),
  job.change_window_id = text_at(row, 19);
  job.needs_policy_approval = row.flag(20), job.needs_booking_approval = row.flag(21);
  for (const auto& reason : TRY(parse_json(row.text(22))))
    job.approval_reasons.push_back(reason.get<std::string>());
  job.approval_digest = row.text(23), job.approval_expires_at = time_at(row, 24);
  job.policy_approval = approval_at(row, 25), job.booking_approval = approval_at(row, 27);
  job.attempts = static_cast<int>(row.integer(29)), job.cancel_requested = row.flag(30);
  job.started_at = time_at(row, 31), job.completed_at = time_at(row, 32), job.error = text_at(row, 33);
  job.change_window_name = text_at(row, 34), job.revision = row.integer(35);
  job.progress = TRY(json_at(row, 36)), job.result = TRY(json_at(row, 37));
  job.exit_status = integer_at(row, 38), job.signal = integer_at(row, 39);
  if (!row.is_null(40)) job.details = TRY(json_at(row, 40));
  job.needs_plan_approval = row.flag(41), job.plan_approval = approval_at(row, 42);
  job.plan_digest = row.text(44);
  return job;
}

OrderedJson to_json(const JobProgress& progress) {
  return {{"bytes_done", progress.bytes_done},
          {"bytes_total", progress.bytes_total},
          {"items_done", progress.items_done},
          {"items_total", progress.items_total},
          {"bytes_per_second", progress.bytes_per_second},
          {"eta_seconds", progress.eta_seconds ? OrderedJson(*progress.eta_seconds) : OrderedJson(nullptr)}};
}

OrderedJson to_json(const Job& job, config::NameStyle style) {
  OrderedJson out;
  out["id"] = job.id;
  out["job_type"] = style == config::NameStyle::provider ? config::provider_action(job.action) : job.action;
  out["description"] = job.name;
  out["status"] = word(job.state);
  out["reason"] = or_null(job.reason);
  out["progress_pct"] = job.state == State::completed ? OrderedJson(100) : percent_of(job.progress);
  out["progress_message"] = job.message;
  out["workgroup"] = or_null(job.workgroup);
  out["name"] = job.name;
  out["region"] = job.region;
  out["resource_id"] = or_null(job.resource_id);
  out["batch_id"] = or_null(job.batch_id);
  out["request"] = OrderedJson(job.request);
  out["created_at"] = format_iso(job.created_at);
  out["created_by"] = job.created_by;
  out["started_at"] = or_null(job.started_at);
  out["completed_at"] = or_null(job.completed_at);
  out["duration_seconds"] = nullptr;
  if (job.started_at && job.completed_at)
    out["duration_seconds"] =
        std::chrono::duration_cast<std::chrono::seconds>(*job.completed_at - *job.started_at).count();
  out["error_message"] = or_null(job.error);
  out["exit_status"] = or_null(job.exit_status);
  out["signal"] = or_null(job.signal);
  out["progress"] = job.progress;
  out["result"] = job.result;
  add_details(out, job);
  add_schedule(out, job);
  return out;
}

OrderedJson schedule_json(const Job& job) {
  return {{"job_id", job.id},
          {"status", word(job.state)},
          {"scheduled_for", or_null(job.run_at)},
          {"window_ends_at", or_null(job.window_ends_at)},
          {"schedule_state", schedule_state(job)}};
}

Result<bool> transition(db::Transaction& tx, const std::string& id, std::vector<State> from, State to,
                        StateChange change) {
  std::erase_if(from, [&](State state) { return !can_transition(state, to); });
  if (from.empty()) return false;
  std::string states;
  for (auto state : from) states += fmt::format("{}'{}'", states.empty() ? "" : ", ", word(state));
  db::Params params = {id, std::string(word(to))};
  params.insert(params.end(), change.params.begin(), change.params.end());
  auto changed = TRY(tx.exec(fmt::format("UPDATE jobs SET state = $2{} WHERE id = $1 AND state IN ({}){}",
                                         change.set, states, change.condition),
                             params));
  return changed == 1;
}

}  // namespace dash::jobs
