#include "core/jobs/running_job.hpp"

#include <condition_variable>
#include <utility>

#include "core/base/utf8.hpp"
#include "core/jobs/actions.hpp"
#include "core/jobs/job_rows.hpp"
#include "core/jobs/machines.hpp"
#include "core/jobs/post_deploy.hpp"

namespace dash::jobs {
namespace {

constexpr std::size_t kLogBatch = 100;  // lines that are written at once
// Lines that wait for a database that does not answer; the oldest are dropped beyond it.
constexpr std::size_t kMaxWaitingLines = 10'000;
constexpr std::size_t kMaxLineBytesOfALog = 16u << 10;  // the rest of a longer line is dropped
constexpr auto kCancelInterval = std::chrono::seconds(1);
constexpr auto kTendInterval = std::chrono::milliseconds(200);
constexpr auto kProgressInterval = std::chrono::seconds(1);

}  // namespace

RunningJob::RunningJob(const Deps& deps, const Job& job, std::string owner, std::int64_t lease,
                       const std::atomic<bool>& stop)
    : deps_(deps),
      job_(job),
      owner_(std::move(owner)),
      lease_(lease),
      stop_(stop),
      renewed_(deps.clock.now()) {}

void RunningJob::line(std::string text) {
  // A teardown's resource id is the evaluated one, so only other jobs may report one.
  const auto* action = find_action(job_.action);
  bool makes = !action || action->kind != ActionKind::teardown;
  if (auto json = parse_json(text); makes && json && json->is_object()) {
    if (auto id = string_member(*json, "resource_id")) {
      std::lock_guard lock(mutex_);
      resource_id_ = *id;
    }
    if (auto outputs = json->find("outputs"); outputs != json->end() && outputs->is_object())
      set_detail("outputs", OrderedJson(*outputs));
  }
  log(std::move(text));
}

void RunningJob::log(std::string text) {
  if (text.size() > kMaxLineBytesOfALog)
    text = trim_partial_character(std::string_view(text).substr(0, kMaxLineBytesOfALog));
  bool is_full = false;
  {
    std::lock_guard lock(mutex_);
    if (lines_.size() >= kMaxWaitingLines) lines_.erase(lines_.begin());
    lines_.push_back(std::move(text));
    is_full = lines_.size() % kLogBatch == 0;
  }
  if (is_full) std::ignore = flush();
}

void RunningJob::report(const JobProgress& progress) {
  std::lock_guard lock(mutex_);
  progress_ = progress;
}

void RunningJob::set_detail(std::string member, OrderedJson value) {
  std::lock_guard lock(mutex_);
  details_.insert_or_assign(std::move(member), std::move(value));
}

Result<void> RunningJob::write_pending(db::Transaction& tx) const {
  TRY(append_log(tx, job_.id, lines_, deps_.clock.now()));
  if (!resource_id_.empty())
    TRY(tx.exec("UPDATE jobs SET resource_id = $2 WHERE id = $1", {job_.id, resource_id_}));
  if (progress_)
    TRY(tx.exec("UPDATE jobs SET progress = $2 WHERE id = $1", {job_.id, dump_json(to_json(*progress_))}));
  for (const auto& [member, value] : details_) TRY(set_job_detail(tx, job_.id, member, value));
  return {};
}

Result<void> RunningJob::flush() {
  std::lock_guard lock(mutex_);
  flushed_ = deps_.clock.steady_now();
  if (lines_.empty() && !progress_ && details_.empty() && resource_id_.empty()) return {};
  TRY(deps_.sql.write([&](db::Transaction& tx) { return write_pending(tx); }));
  lines_.clear();
  progress_.reset();
  details_.clear();
  resource_id_.clear();
  return {};
}

bool RunningJob::tend() {
  bool is_due = false;
  {
    std::lock_guard lock(mutex_);
    bool is_news = progress_ || !details_.empty();
    is_due = !lines_.empty() || (is_news && deps_.clock.steady_now() - flushed_ >= kProgressInterval);
  }
  if (is_due) std::ignore = flush();
  auto now = deps_.clock.now();
  // When the clock was put back, the lease is from the future: it is renewed at once.
  auto passed = to_micros(now) - to_micros(renewed_);
  if (passed < 0 || passed >= lease_ / 4) renew(now);
  auto moment = std::chrono::steady_clock::now();
  if (!should_stop() && moment - looked_ >= kCancelInterval) {
    looked_ = moment;
    look_for_cancel();
  }
  return should_stop();
}

void RunningJob::look_for_cancel() {
  std::ignore = deps_.sql.read([&](db::Transaction& tx) -> Result<void> {
    auto rows = TRY(tx.query("SELECT cancel_requested FROM jobs WHERE id = $1", {job_.id}));
    cancelled_ = !rows.empty() && rows[0].flag(0);
    return {};
  });
}

void RunningJob::renew(Time now) {
  renewed_ = now;
  auto state = db::write<int>(deps_.sql, [&](db::Transaction& tx) -> Result<int> {
    auto rows = TRY(tx.query(
        R"(UPDATE jobs SET lease_until = $3, lease_micros = $4
           WHERE id = $1 AND state = 'running' AND lease_owner = $2
           RETURNING cancel_requested)",
        {job_.id, owner_, to_micros(now) + lease_, lease_}));
    return rows.empty() ? -1 : static_cast<int>(rows[0].integer(0));
  });
  // A database that does not answer does not stop the job before its lease is over.
  if (!state) return;
  lost_ = *state < 0;
  cancelled_ = *state > 0;
}

LeaseKeeper::LeaseKeeper(RunningJob& job)
    : thread_([&job](std::stop_token stop) {
        std::mutex mutex;
        std::condition_variable_any wake;
        std::unique_lock lock(mutex);
        while (!wake.wait_for(lock, stop, kTendInterval, [] { return false; }) && !stop.stop_requested())
          job.tend();
      }) {}

Result<bool> take_lease(db::Transaction& tx, const std::string& job_id, const std::string& owner,
                        std::int64_t now, std::int64_t lease) {
  return transition(tx, job_id, {State::pending}, State::running,
                    {", message = 'running', lease_owner = $3, lease_until = $4, lease_micros = $5, "
                     "attempts = attempts + 1, started_at = coalesce(started_at, $6)",
                     {owner, now + lease, lease, now},
                     ""});
}

Result<void> requeue_job(const Deps& deps, const Job& job, const std::string& owner, std::string message,
                         std::chrono::seconds pause) {
  auto later = to_micros(deps.clock.now() + pause);
  return deps.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(transition(
        tx, job.id, {State::running}, State::pending,
        {", message = $3, retry_after = $4, lease_owner = NULL, lease_until = NULL, attempts = attempts - 1",
         {message, later, owner},
         " AND lease_owner = $5"}));
    return {};
  });
}

Result<void> finish_job(const Deps& deps, const Job& job, const RunningJob& running, const RunResult& outcome,
                        const std::string& deploy_id) {
  bool is_put_back = outcome.status == RunStatus::stopped && running.by_shutdown() &&
                     on_worker_loss(deps.runners, job.action) == OnWorkerLoss::requeue;
  if (is_put_back)
    return requeue_job(deps, job, running.owner(), "its worker was shut down: it will run again",
                       std::chrono::seconds(0));
  auto state = outcome.status == RunStatus::done ? State::completed : State::failed;
  std::string error = outcome.error, reason = state == State::failed ? outcome.reason : "";
  if (outcome.status == RunStatus::stopped && running.by_shutdown()) {
    error = "its worker was shut down; look at the provider before you submit it again",
    reason = "worker_lost";
  } else if (outcome.status == RunStatus::stopped) {
    state = State::cancelled, reason = "user";
  }
  return deps.sql.write([&](db::Transaction& tx) -> Result<void> {
    auto text = [](const std::string& t) { return t.empty() ? db::Value(nullptr) : db::Value(t); };
    auto number = [](std::optional<int> n) { return n ? db::Value(std::int64_t{*n}) : db::Value(nullptr); };
    auto result = outcome.result.is_null() ? "" : dump_json(outcome.result);
    bool is_ours = TRY(transition(
        tx, job.id, {State::running}, state,
        {", message = $3, reason = $4, error = $5, completed_at = $6, result = $7, "
         "exit_status = $8, exit_signal = $9, resource_id = coalesce($10, resource_id), lease_owner = NULL, "
         "lease_until = NULL",
         {std::string(word(state)), text(reason), text(error), to_micros(deps.clock.now()), text(result),
          number(outcome.exit_status), number(outcome.signal), text(outcome.resource_id.value_or("")),
          running.owner()},
         " AND lease_owner = $11"}));
    const auto* action = find_action(job.action);
    if (!is_ours || state != State::completed || !action) return {};
    if (action->kind != ActionKind::teardown) return start_post_deploy(deps, tx, job);
    // Only the machine of this job; another one of its name still exists.
    TRY(mark_destroyed(tx, deploy_id, job.id));
    return {};
  });
}

}  // namespace dash::jobs
