// A worker claims a job: finds one that may begin, and ends those that no longer can.
#include <set>

#include "core/base/log.hpp"
#include "core/jobs/actions.hpp"
#include "core/jobs/group_run.hpp"
#include "core/jobs/job_rows.hpp"
#include "core/jobs/lease.hpp"
#include "core/jobs/machines.hpp"
#include "core/jobs/running_job.hpp"
#include "core/jobs/switch_lease.hpp"
#include "core/jobs/worker.hpp"
#include "core/policy/settings.hpp"
#include "core/windows/window_gate.hpp"

namespace dash::jobs {
namespace {

std::string quoted_list(const std::set<std::string>& available) {
  std::string out;
  for (const auto& action : available) out += fmt::format("{}'{}'", out.empty() ? "" : ", ", action);
  return out.empty() ? "''" : out;
}

// The actions that this process can run.
std::set<std::string> runnable_actions(const Runners& runners, const Executors& executors) {
  std::set<std::string> out;
  for (const auto& [action, path] : executors.available()) out.insert(action);
  // An executable that is refused stands for its action too: nothing else runs in its place.
  std::set<std::string> refused;
  for (const auto& executor : executors.refused()) refused.insert(executor.action);
  for (const auto& [action, runner] : runners.entries())
    if (!runner.obstacle || (!refused.contains(action) && !runner.obstacle())) out.insert(action);
  return out;
}

// Deploys and destroys write infrastructure state.
std::set<std::string> without_deploys(std::set<std::string> available) {
  std::erase_if(available, [](const std::string& action) { return find_action(action) != nullptr; });
  return available;
}

// The parameter $1 is the time.
std::string ready_condition(const std::set<std::string>& available) {
  return fmt::format(
      R"(state = 'pending' AND action IN ({})
         AND (run_at IS NULL OR run_at <= $1)
         AND (window_ends_at IS NULL OR window_ends_at > $1)
         AND (retry_after IS NULL OR {})
         AND (needs_policy_approval = 0 OR policy_approved_by IS NOT NULL)
         AND (needs_booking_approval = 0 OR booking_approved_by IS NOT NULL)
         AND (needs_plan_approval = 0 OR plan_approved_by IS NOT NULL)
         AND (run_group IS NULL OR NOT EXISTS (
           SELECT 1 FROM jobs earlier
           WHERE earlier.run_group = jobs.run_group AND earlier.state = 'pending' AND earlier.seq < jobs.seq)))",
      quoted_list(available), due_condition("retry_after", 1, kEngineRetryInterval));
}

// SQL for the jobs that may begin, while no switch of the active backend runs and during one.
class ReadyJobs {
 public:
  explicit ReadyJobs(const std::set<std::string>& available)
      : all_(ready_condition(available)), in_switch_(ready_condition(without_deploys(available))) {}
  Result<std::string_view> condition(db::Transaction& tx, Time now) const {
    return std::string_view(TRY(find_backend_switch(tx, now)) ? in_switch_ : all_);
  }

 private:
  std::string all_, in_switch_;
};

// Returns whether the window of the job still contains the scheduled time and the current time.
Result<bool> is_inside_window(db::Transaction& tx, windows::Windows& windows, const Job& job, Time now) {
  if (!job.change_window_id) return true;
  auto window = TRY(windows.find(tx, *job.change_window_id));
  if (!window || !window->enabled || !TRY(open_occurrence(*window, now))) return false;
  return !job.run_at || TRY(open_occurrence(*window, *job.run_at));
}

// Why a due job must not begin; the job ends with it.
struct Obstacle {
  State state;
  std::string_view reason;
  std::string message;
};

// A plan may have waited for days: the workgroup's window is asked again as at the submission.
Result<std::optional<Obstacle>> find_closed_window(const Deps& deps, db::Transaction& tx, const Job& job,
                                                   const policy::GateSettings& settings) {
  if (!job.needs_plan_approval || !job.workgroup || !settings.lists(job.action)) return std::nullopt;
  auto rule = TRY(deps.windows.rule_of(tx, *job.workgroup));
  auto answer = TRY(windows::check_workgroup_window(rule, *job.workgroup, std::nullopt, deps.clock.now()));
  if (!answer.refusal) return std::nullopt;
  return Obstacle{State::missed, "change_window", answer.refusal->reason + " Book it again."};
}

Result<std::optional<Obstacle>> find_obstacle(const Deps& deps, db::Transaction& tx, const Job& job,
                                              const policy::GateSettings& settings) {
  if (auto closed = TRY(find_closed_window(deps, tx, job, settings))) return closed;
  if (!TRY(is_inside_window(tx, deps.windows, job, deps.clock.now())))
    return Obstacle{State::missed, "change_window",
                    "its change window was disabled, moved or deleted, and is not open now; book it again"};
  const auto* action = find_action(job.action);
  if (!action || action->kind != ActionKind::teardown) return std::nullopt;
  auto parameters = TRY(open_parameters(deps.store, job));
  auto remover = TRY(destroyed_by(tx, string_member(parameters, "deploy_job_id").value_or("")));
  if (!remover) return std::nullopt;
  return Obstacle{State::cancelled, "already_removed",
                  fmt::format("job {} removed this machine meanwhile", *remover)};
}

Result<void> end_job(const Deps& deps, db::Transaction& tx, const Job& job, const Obstacle& obstacle) {
  log::info("jobs.not_begun", {{"job", job.id}, {"action", job.action}, {"reason", obstacle.reason}});
  TRY(transition(tx, job.id, {State::pending}, obstacle.state,
                 {", reason = $3, message = $4, completed_at = $5",
                  {std::string(obstacle.reason), obstacle.message, to_micros(deps.clock.now())},
                  ""}));
  return {};
}

}  // namespace

// The row stays locked between this read and the claim, so no two workers have the same job.
Result<std::optional<Job>> Worker::claim() {
  auto available = runnable_actions(deps_.runners, executors_);
  if (available.empty()) return std::nullopt;
  auto lease = TRY(lease_micros(deps_.settings));
  auto settings = TRY(policy::live_settings(deps_.settings));
  ReadyJobs ready(available);
  for (;;) {
    auto time = deps_.clock.now();
    auto now = to_micros(time);
    // Most reads find nothing, and a read does not wait for writers.
    bool any = TRY(db::read<bool>(deps_.sql, [&](db::Transaction& tx) -> Result<bool> {
      auto condition = TRY(ready.condition(tx, time));
      return !TRY(tx.query(fmt::format("SELECT 1 FROM jobs WHERE {} LIMIT 1", condition), {now})).empty();
    }));
    if (!any) return std::nullopt;
    auto claimed =
        TRY(db::write<std::optional<Job>>(deps_.sql, [&](db::Transaction& tx) -> Result<std::optional<Job>> {
          auto condition = TRY(ready.condition(tx, time));
          auto rows = TRY(tx.query(fmt::format("SELECT id FROM jobs WHERE {} ORDER BY seq LIMIT 1 {}",
                                               condition, tx.is_postgres() ? "FOR UPDATE SKIP LOCKED" : ""),
                                   {now}));
          if (rows.empty()) return std::nullopt;
          auto job = TRY(get_job(tx, rows[0].text(0)));
          if (auto obstacle = TRY(find_obstacle(deps_, tx, job, *settings))) {
            TRY(end_job(deps_, tx, job, *obstacle));
            return job;
          }
          TRY(take_lease(tx, job.id, owner_, now, lease));
          TRY(take_group(tx, job.id, owner_, now, lease));
          return get_job(tx, job.id);
        }));
    if (!claimed || claimed->state == State::running) return claimed;
  }
}

}  // namespace dash::jobs
