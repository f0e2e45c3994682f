// Jobs of a batch that one program runs (the column run_group): one worker claims all of them, and the runner of
// the first, the leader, does the work of all and ends each of the others.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/jobs/running_job.hpp"

namespace dash::jobs {

// Puts jobs into one group. Called in the transaction that inserts them.
Result<void> set_run_group(db::Transaction& tx, const std::string& job_id, const std::string& group);
// Takes the pending jobs of the group of a job that `owner` has just claimed.
Result<void> take_group(db::Transaction& tx, const std::string& job_id, const std::string& owner,
                        std::int64_t now, std::int64_t lease);

// The jobs that were taken with the leader. Renews their leases and looks for cancellations in a thread of its
// own. Thread-safe. Its destructor fails those that were not ended.
class GroupRun {
 public:
  static Result<std::unique_ptr<GroupRun>> open(const Deps& deps, const Job& leader);
  ~GroupRun();

  std::size_t size() const { return members_.size(); }  // without the leader
  const Job& job(std::size_t i) const { return members_.at(i)->job; }
  // For output, progress and details; it is flushed by this object.
  RunControl& control(std::size_t i) { return members_.at(i)->running; }
  // Ends a job, once. Later calls have no effect.
  Result<void> finish(std::size_t i, const RunResult& outcome);
  bool is_finished(std::size_t i) const { return members_.at(i)->is_finished; }

  // Returns whether the user cancelled the leader or one of the jobs that were not ended.
  bool is_cancelled() const;
  bool is_cancelled(const std::string& job_id) const;

 private:
  struct Member {
    Member(const Deps& deps, Job taken, const std::string& owner, std::int64_t lease,
           const std::atomic<bool>& stop)
        : job(std::move(taken)), running(deps, job, owner, lease, stop) {}
    Job job;
    RunningJob running;
    std::atomic<bool> is_finished = false;
  };
  GroupRun(const Deps& deps, std::string group, std::string owner, std::int64_t lease);
  Result<void> load(db::Transaction& tx, const Job& leader);
  void keep(const std::stop_token& stop);
  void renew();
  void look_for_cancels();
  const Deps& deps_;
  const std::string group_, owner_;
  const std::int64_t lease_;
  std::atomic<bool> never_ = false;  // the leader is asked about the end of this process
  std::vector<std::unique_ptr<Member>> members_;
  mutable std::mutex mutex_;
  std::set<std::string> cancelled_;
  std::jthread thread_;
};

}  // namespace dash::jobs
