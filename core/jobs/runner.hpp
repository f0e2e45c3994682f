// Runners do the work of a job inside of this binary: in a worker's thread, or in the thread of a caller that
// waits for the job (run_now.hpp). Later modules add one for each of their actions.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/jobs/actions.hpp"
#include "core/jobs/executor.hpp"
#include "core/jobs/job.hpp"

namespace dash::jobs {

// What a runner gets besides its job. Thread-safe.
class RunControl {
 public:
  virtual ~RunControl() = default;
  // Returns true when the job was cancelled, its lease was lost or this process ends: the runner then returns
  // soon, with RunStatus::stopped. Cheap: a runner calls it for each piece of its work.
  virtual bool should_stop() const = 0;
  // Adds a line to the job's log.
  virtual void log(std::string line) = 0;
  // Replaces the job's progress; written once a second at most.
  virtual void report(const JobProgress& progress) = 0;
  // Replaces a member of the job's details (kJobDetails, or one of the runner's own that stays in the
  // database); written with the next flush.
  virtual void set_detail(std::string member, OrderedJson value) = 0;
  // Writes log, progress and details now. What cannot be written is kept for the next flush.
  virtual Result<void> flush() = 0;
};

// Runs the job; `parameters` are the decrypted ones. An error fails the job with its message.
using Runner = std::function<Result<RunResult>(const Job& job, const Json& parameters, RunControl& control)>;

struct RunnerEntry {
  Runner run;
  OnWorkerLoss on_worker_loss = OnWorkerLoss::fail;
  // Set for a runner that yields to an operator's executable. Returns why it cannot run the action here (a
  // sentence that says what to do), or nullopt. Called several times a second.
  std::function<std::optional<std::string>()> obstacle{};
};

// The runners of a process, by canonical action. Filled while the application is built, then only read.
class Runners {
 public:
  void add(std::string action, RunnerEntry entry) {
    entries_.insert_or_assign(std::move(action), std::move(entry));
  }
  // Returns nullptr where an operator's executable is needed.
  const RunnerEntry* find(const std::string& action) const {
    auto found = entries_.find(action);
    return found == entries_.end() ? nullptr : &found->second;
  }
  const std::map<std::string, RunnerEntry>& entries() const { return entries_; }

 private:
  std::map<std::string, RunnerEntry> entries_;
};

// What happens to a job of the action whose worker died.
OnWorkerLoss on_worker_loss(const Runners& runners, const std::string& action);

}  // namespace dash::jobs
