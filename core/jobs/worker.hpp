// Runs jobs. A claim is one transaction over a locked row. A lease records which worker runs a job, and is
// renewed while it runs. So a job never runs twice at once and is never lost: when its worker dies, the sweep
// of any other instance takes it (Jobs::sweep). Threads share only the database.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core/jobs/executor.hpp"
#include "core/jobs/jobs.hpp"

namespace dash::jobs {

// The pause after a claim on which the engine failed.
inline constexpr std::chrono::seconds kEngineRetryInterval{30};

class Worker {
 public:
  Worker(Deps deps, const Executors& executors, std::string owner)
      : deps_(deps), executors_(executors), owner_(std::move(owner)) {}

  // Claims one job and runs it to its end, or to `stop`. Returns false when there was nothing to do.
  Result<bool> work(const std::atomic<bool>& stop);

  // The steps of work(), public so that tests can change the state between them.
  Result<std::optional<Job>> claim();
  // Evaluates the claimed job again. Returns false when it was refused, put back or sent for approval, and
  // must not run.
  Result<bool> reauthorize(const Job& job);

 private:
  Result<void> run(const Job& job, const std::atomic<bool>& stop);
  policy::Deadline decision_deadline() const;
  Deps deps_;
  const Executors& executors_;
  std::string owner_;
  std::optional<policy::Deadline> engine_failed_at_;
  policy::Decision decision_;  // about the job that was claimed last
};

// The threads of `serve`: `workers` of them run jobs, one more sweeps every second.
class JobWorkers {
 public:
  JobWorkers(Jobs& jobs, Deps deps, Executors executors, std::size_t workers);
  // Stops claiming, lets running jobs end within the executors' grace, joins.
  ~JobWorkers();
  JobWorkers(const JobWorkers&) = delete;
  JobWorkers& operator=(const JobWorkers&) = delete;

 private:
  void run_maintenance(std::size_t threads);
  void work(std::size_t number);
  bool pause(std::chrono::milliseconds length);
  Jobs& jobs_;  // sweeps
  Deps deps_;   // of each Worker
  Executors executors_;
  std::string owner_;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::jthread> threads_;
};

}  // namespace dash::jobs
