// The agent as it runs: leases jobs, one at a time a class, and carries out what its own policy allows. A long run
// has a thread of its own, so that storage jobs go on beside it.
#pragma once
#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "core/agent/remote/done_jobs.hpp"
#include "core/agent/remote/job_reports.hpp"
#include "core/agent/remote/policy.hpp"
#include "core/agent/remote/settings.hpp"

namespace dash::agent {

// How long `--once` waits for a job.
inline constexpr int kOnceWaitSeconds = 5;

class RunningAgent {
 public:
  // What it was started with, read and checked.
  struct Deps {
    const Settings& settings;
    const Policy& policy;
    const Clock& clock;
    DashboardClient& leases;   // may be stopped while it waits (is_stopping())
    DashboardClient& reports;  // is never stopped
    DoneJobs& done;
  };
  RunningAgent(Deps deps, const std::atomic<bool>& is_stopping);
  ~RunningAgent();

  // Adds the runner of a job type, before run(). One with `is_long` gets a thread of its own; its jobs wait for
  // each other there.
  void add(std::string type, std::unique_ptr<JobRunner> runner, bool is_long);

  // Leases until stop(), or once. Ends well when it was stopped; Code::usage when the dashboard does not know this
  // agent any more; with `is_once` the error of the lease.
  Result<void> run();
  // Waits for the jobs that go on beside run(); they end soon when the agent is stopping.
  void finish();
  // Wakes run(), which sees `is_stopping`. From any thread.
  void wake();

 private:
  struct Lane;
  LeaseAnswer lease(std::chrono::milliseconds& took);
  void handle(const LeasedJob& job);
  Result<void> accept(const LeasedJob& job);
  void carry_out(const LeasedJob& job, JobRunner& runner);
  void wait(std::chrono::milliseconds time);
  Deps deps_;
  const std::atomic<bool>& is_stopping_;
  JobReports reports_;
  std::map<std::string, std::unique_ptr<Lane>> lanes_;  // by job type
  std::mutex mutex_;
  std::condition_variable wake_;
};

}  // namespace dash::agent
