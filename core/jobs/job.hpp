// A job: one change that is to be made, or was. Its states and the one table of their transitions.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/json.hpp"
#include "core/config/clouds.hpp"
#include "core/db/sql.hpp"

namespace dash::jobs {

enum class State {
  awaiting_approval,  // another user must approve
  scheduled,          // waits for its time
  pending,            // a worker may claim it
  running,
  completed,
  failed,
  cancelled,
  rejected,  // another user rejected it
  expired,   // not approved in time
  missed,    // its window closed before it ran
};
std::string_view word(State state);
std::optional<State> parse_state(std::string_view word);
bool is_final(State state);
// Returns whether the table has the transition.
bool can_transition(State from, State to);

struct Approval {
  std::string by;
  Time at;
};

// How far a running job is; totals are 0 while they are unknown.
struct JobProgress {
  std::uint64_t bytes_done = 0, bytes_total = 0;
  std::uint64_t items_done = 0, items_total = 0;
  std::uint64_t bytes_per_second = 0;
  std::optional<std::uint64_t> eta_seconds{};
};
// {bytes_done, bytes_total, items_done, items_total, bytes_per_second, eta_seconds}
OrderedJson to_json(const JobProgress& progress);

struct Job {
  std::string id;
  std::int64_t seq = 0;
  std::string action;  // canonical
  std::string receipt;
  std::optional<std::string> workgroup;
  std::string name;
  std::string region;
  std::optional<std::string> resource_id;  // the provider's id, reported by the executor
  std::optional<std::string> batch_id;
  Json request;            // the evaluated request
  std::string parameters;  // sealed; see job_rows.hpp
  State state = State::pending;
  std::optional<std::string> reason;  // a word: policy, user, window_closed, worker_lost, …
  std::string message;                // what it does or waits for
  Time created_at;
  std::string created_by;
  bool created_by_admin = false;
  std::optional<Time> run_at, window_ends_at;
  std::optional<std::string> change_window_id, change_window_name;
  bool needs_policy_approval = false, needs_booking_approval = false, needs_plan_approval = false;
  std::vector<std::string> approval_reasons;
  std::string approval_digest;  // covered by an approval (digest.hpp); empty when it needs none
  std::optional<Time> approval_expires_at;
  std::optional<Approval> policy_approval, booking_approval, plan_approval;
  std::string plan_digest;    // of the plan that waits or was approved (plan.hpp); empty without one
  std::int64_t revision = 0;  // how often it was rescheduled or lost an approval since it was submitted
  int attempts = 0;
  bool cancel_requested = false;
  std::optional<Time> started_at, completed_at;
  std::optional<std::string> error;
  OrderedJson progress, result;                 // of a runner, null without one
  std::optional<int> exit_status, signal;       // how its program ended: at most one of them
  OrderedJson details = OrderedJson::object();  // what its runner tells besides; see kJobDetails

  bool plan_waits() const { return needs_plan_approval && !plan_approval; }
  bool needs_any_approval() const {
    return needs_policy_approval || needs_booking_approval || needs_plan_approval;
  }
  bool approved() const {
    return (!needs_policy_approval || policy_approval) && (!needs_booking_approval || booking_approval) &&
           !plan_waits();
  }
  // The newest of its approvals.
  std::optional<Approval> last_approval() const {
    return plan_approval ? plan_approval : booking_approval ? booking_approval : policy_approval;
  }
};

// A member of Job::details that is part of the job's JSON. Other members stay in the database.
struct JobDetail {
  std::string_view member;
  bool is_list;  // [] while there is none, else null
};
inline constexpr JobDetail kJobDetails[] = {
    {"hosts", true},             // [{name, outcome, error}]
    {"plan", false},             // {add, change, destroy, digest}
    {"outputs", false},          // {name: value}; null instead of a sensitive value
    {"post_deploy_jobs", true},  // ids
    {"deploy_job_id", false},    // of a job that follows a deploy
    {"warnings", true},          // sentences
};

// Returns the job for the API and `--output json`. Members that a Python dashboard has keep its names
// (docs/compatibility.md).
OrderedJson to_json(const Job& job, config::NameStyle style = config::NameStyle::canonical);
// {job_id, status, scheduled_for, window_ends_at, schedule_state} of a rescheduled job.
OrderedJson schedule_json(const Job& job);

// "SELECT <columns> FROM jobs ", to be continued.
extern const std::string kSelectJobs;
Result<Job> row_to_job(const db::Row& row);

// A change of state. `set` has further assignments ("message = $3"), whose parameters follow $1 (job) and $2
// (new state).
struct StateChange {
  std::string set;        // "" or ", column = $3, …"
  db::Params params;      // of `set`, from $3 on
  std::string condition;  // "" or " AND column = $n": parameters of `params` too
};
// Changes the state; there is no other way. One conditional statement changes nothing and returns false when
// the table lacks the transition or another process made it first. `from` lists the states that the caller
// expects.
Result<bool> transition(db::Transaction& tx, const std::string& id, std::vector<State> from, State to,
                        StateChange change = {});

}  // namespace dash::jobs
