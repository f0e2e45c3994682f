#include <unistd.h>

#include "core/base/log.hpp"
#include "core/crypto/hash.hpp"
#include "core/jobs/worker.hpp"

namespace dash::jobs {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(300);
constexpr auto kHouse = std::chrono::seconds(1);
constexpr int kNoteEvery = 20;  // rounds of the house: each note is a write

// Jobs that nothing here can run say so, once.
Result<void> tell_missing_executors(Jobs& jobs, const Executors& executors) {
  const auto& s = jobs.seams();
  auto available = executors.available();
  for (const auto& action : actions()) {
    std::string name(action.name);
    if (available.contains(name)) continue;
    auto message =
        fmt::format("no executor for {}: put an executable at {}", name, executors.expected_path(name));
    bool silent = TRY(db::read<bool>(s.sql, [&](db::Transaction& tx) -> Result<bool> {
      auto rows = TRY(tx.query(
          "SELECT 1 FROM jobs WHERE state = 'pending' AND action = $1 AND message = '' LIMIT 1", {name}));
      return !rows.empty();
    }));
    if (!silent) continue;
    TRY(s.sql.write([&](db::Transaction& tx) -> Result<void> {
      TRY(tx.exec("UPDATE jobs SET message = $2 WHERE state = 'pending' AND action = $1 AND message = ''",
                  {name, message}));
      return {};
    }));
  }
  return {};
}

void complain(std::string_view event, const Result<void>& result) {
  if (!result) log::error(event, {{"error", result.error().message}, {"detail", result.error().detail}});
}

}  // namespace

WorkerPool::WorkerPool(Jobs& jobs, Executors executors, std::size_t workers)
    : jobs_(jobs),
      executors_(std::move(executors)),
      owner_(fmt::format("{}-{}", ::getpid(), crypto::random_hex(6))) {
  threads_.emplace_back([this, workers] { keep_house(workers); });
  for (std::size_t i = 0; i < workers; ++i) threads_.emplace_back([this, i] { work(i); });
}

WorkerPool::~WorkerPool() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  threads_.clear();
}

bool WorkerPool::pause(std::chrono::milliseconds length) {
  std::unique_lock lock(mutex_);
  return !wake_.wait_for(lock, length, [&] { return stop_.load(); });
}

void WorkerPool::keep_house(std::size_t threads) {
  int round = 0;
  do {
    if (threads > 0 && round++ % kNoteEvery == 0)
      complain("worker_note_failed", jobs_.note_workers(owner_, threads));
    complain("job_sweep_failed", jobs_.sweep());
    complain("job_sweep_failed", tell_missing_executors(jobs_, executors_));
  } while (pause(kHouse));
}

void WorkerPool::work(std::size_t number) {
  Worker worker(jobs_, executors_, fmt::format("{}-{}", owner_, number));
  for (;;) {
    auto worked = worker.work(stop_);
    if (!worked)
      log::error("job_worker_failed", {{"error", worked.error().message}, {"detail", worked.error().detail}});
    bool more = worked && *worked && !stop_;
    if (!more && !pause(kPoll)) return;
  }
}

}  // namespace dash::jobs
