// The state of a job that this process runs: its log, its progress, its lease. Thread-safe.
#pragma once
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/jobs/jobs.hpp"
#include "core/jobs/runner.hpp"

namespace dash::jobs {

class RunningJob final : public RunControl {
 public:
  // `lease` is its length in microseconds. `stop` is true when this process ends. Both outlive it.
  RunningJob(const Deps& deps, const Job& job, std::string owner, std::int64_t lease,
             const std::atomic<bool>& stop);

  // For an executor: a line of its output, which may name the new resource.
  void line(std::string text);
  // Writes the lines of the log and renews the lease when that is due. For an executor its loop calls this
  // several times a second, for a runner a LeaseKeeper.
  bool tend();

  bool should_stop() const override { return stop_ || cancelled_ || lost_; }
  void log(std::string text) override;
  void report(const JobProgress& progress) override;
  void set_detail(std::string member, OrderedJson value) override;
  Result<void> flush() override;

  // The end of this process stopped it, and not its user.
  bool by_shutdown() const { return stop_ && !cancelled_; }
  const std::string& owner() const { return owner_; }

 private:
  void renew(Time now);
  void look_for_cancel();
  Result<void> write_pending(db::Transaction& tx) const;
  const Deps& deps_;
  const Job& job_;
  const std::string owner_;
  const std::int64_t lease_;
  const std::atomic<bool>& stop_;
  std::mutex mutex_;
  Time renewed_;
  std::chrono::steady_clock::time_point looked_{};
  SteadyTime flushed_{};
  std::vector<std::string> lines_;
  std::string resource_id_;
  std::optional<JobProgress> progress_;         // not yet written
  std::map<std::string, OrderedJson> details_;  // likewise
  std::atomic<bool> cancelled_ = false, lost_ = false;
};

// A thread that tends a running job while its runner works.
class LeaseKeeper {
 public:
  explicit LeaseKeeper(RunningJob& job);

 private:
  std::jthread thread_;
};

// Makes a pending job a running one that `owner` holds. `now` and `lease` are in microseconds. Returns false
// when it is not pending.
Result<bool> take_lease(db::Transaction& tx, const std::string& job_id, const std::string& owner,
                        std::int64_t now, std::int64_t lease);

// Ends a running job with the outcome of its run, unless another process owns it by now. A run that the end
// of this process stopped is put back where its action allows that. `deploy_id` is the job that made the
// machine of a teardown; empty when there is none.
Result<void> finish_job(const Deps& deps, const Job& job, const RunningJob& running, const RunResult& outcome,
                        const std::string& deploy_id = "");

// Returns the job to pending, for `pause` at least.
Result<void> requeue_job(const Deps& deps, const Job& job, const std::string& owner, std::string message,
                         std::chrono::seconds pause);

}  // namespace dash::jobs
