#include <unistd.h>

#include <algorithm>

#include "core/base/log.hpp"
#include "core/crypto/hash.hpp"
#include "core/jobs/actions.hpp"
#include "core/jobs/worker.hpp"

namespace dash::jobs {
namespace {

constexpr auto kPollInterval = std::chrono::milliseconds(300);
constexpr auto kSweepInterval = std::chrono::seconds(1);
constexpr int kHeartbeatRounds = 20;  // a heartbeat is a write, so only one in so many rounds

// Writes into the waiting jobs of an action why no worker here runs them. It replaces only empty messages and
// those that start with one of `over`: another process may have written the state of its own folder.
Result<void> set_waiting_message(db::Sql& sql, const std::string& action, const std::string& message,
                                 const std::string& over, const std::string& over_too) {
  db::Params params = {action, message, over, over_too};
  constexpr std::string_view kWaiting =
      R"(state = 'pending' AND action = $1 AND message <> $2
         AND (message = '' OR substr(message, 1, length($3)) = $3 OR substr(message, 1, length($4)) = $4))";
  bool is_news = TRY(db::read<bool>(sql, [&](db::Transaction& tx) -> Result<bool> {
    return !TRY(tx.query(fmt::format("SELECT 1 FROM jobs WHERE {} LIMIT 1", kWaiting), params)).empty();
  }));
  if (!is_news) return {};
  return sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec(fmt::format("UPDATE jobs SET message = $2 WHERE {}", kWaiting), params));
    return {};
  });
}

Result<void> explain_action(db::Sql& sql, const Executors& executors,
                            const std::vector<RefusedExecutor>& refused, const std::string& action,
                            const std::optional<std::string>& obstacle) {
  auto none = fmt::format("no executor for {}:", action);
  auto found = std::ranges::find(refused, action, &RefusedExecutor::action);
  if (found == refused.end()) {
    auto message = fmt::format("{} {}", none,
                               obstacle.value_or("put an executable at " + executors.expected_path(action)));
    return set_waiting_message(sql, action, message, none, none);
  }
  auto start = fmt::format("the executor {} is not run:", found->path);
  return set_waiting_message(sql, action, fmt::format("{} {}", start, found->reason), start, none);
}

// Explains jobs that no worker here can run.
Result<void> explain_waiting_jobs(const Deps& deps, const Executors& executors,
                                  const std::vector<RefusedExecutor>& refused) {
  auto available = executors.available();
  std::vector<std::string> wanted = {std::string(kAutomationRun)};
  for (const auto& action : actions()) wanted.emplace_back(action.name);
  for (const auto& action : wanted) {
    if (available.contains(action)) continue;
    const auto* runner = deps.runners.find(action);
    auto obstacle = runner && runner->obstacle ? runner->obstacle() : std::nullopt;
    bool is_refused = std::ranges::find(refused, action, &RefusedExecutor::action) != refused.end();
    if (!runner || obstacle || (runner->obstacle && is_refused))
      TRY(explain_action(deps.sql, executors, refused, action, obstacle));
  }
  return {};
}

void log_failure(std::string_view event, const Result<void>& result) {
  if (!result) log::error(event, {{"error", result.error().message}, {"detail", result.error().detail}});
}

}  // namespace

JobWorkers::JobWorkers(Jobs& jobs, Deps deps, Executors executors, std::size_t workers)
    : jobs_(jobs),
      deps_(deps),
      executors_(std::move(executors)),
      owner_(fmt::format("{}-{}", ::getpid(), crypto::random_hex(6))) {
  threads_.emplace_back([this, workers] { run_maintenance(workers); });
  for (std::size_t i = 0; i < workers; ++i) threads_.emplace_back([this, i] { work(i); });
}

JobWorkers::~JobWorkers() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  threads_.clear();
}

bool JobWorkers::pause(std::chrono::milliseconds length) {
  std::unique_lock lock(mutex_);
  return !wake_.wait_for(lock, length, [&] { return stop_.load(); });
}

void JobWorkers::run_maintenance(std::size_t threads) {
  int round = 0;
  std::map<std::string, std::string> logged;  // refused executors: path → reason
  do {
    if (threads > 0 && round++ % kHeartbeatRounds == 0)
      log_failure("jobs.heartbeat_failed", jobs_.heartbeat(owner_, threads));
    log_failure("jobs.sweep_failed", jobs_.sweep());
    auto refused = executors_.refused();
    for (const auto& executor : refused)
      if (std::exchange(logged[executor.path], executor.reason) != executor.reason)
        log::warning("jobs.executor_refused", {{"path", executor.path}, {"reason", executor.reason}});
    log_failure("jobs.sweep_failed", explain_waiting_jobs(deps_, executors_, refused));
  } while (pause(kSweepInterval));
}

void JobWorkers::work(std::size_t number) {
  Worker worker(deps_, executors_, fmt::format("{}-{}", owner_, number));
  for (;;) {
    auto worked = worker.work(stop_);
    if (!worked)
      log::error("jobs.worker_failed",
                 {{"error", worked.error().message}, {"detail", worked.error().detail}});
    bool more = worked && *worked && !stop_;
    if (!more && !pause(kPollInterval)) return;
  }
}

}  // namespace dash::jobs
