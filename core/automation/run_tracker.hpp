// Follows the hosts of a run: their outcomes, what goes into which job's log, and how the jobs end. Thread-safe.
#pragma once
#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/automation/run_events.hpp"
#include "core/jobs/group_run.hpp"
#include "core/jobs/runner.hpp"
#include "core/jobs/secret_mask.hpp"

namespace dash::automation {

struct TrackedHost {
  std::string name;
  std::size_t job = 0;  // 0: the leader; else the member of its group plus one
};

// How the program of a run ended.
struct RunEnd {
  enum class How { exited, cancelled, stopped, timed_out, too_many_failures } how = How::exited;
  std::optional<int> exit_status{}, signal{};
  std::string error{};  // of a program that failed: what it wrote last
};

class RunTracker {
 public:
  // `mask` hides the run's secrets.
  RunTracker(std::vector<TrackedHost> hosts, jobs::RunControl& leader, jobs::GroupRun& group,
             const jobs::SecretMask& mask);

  void on_event(RunEvent event);
  // A line of the program's own output.
  void on_output(std::string line);
  // A line of no one job, for the log of each.
  void on_shared_output(const std::string& line);
  std::size_t bad_hosts() const;

  // Ends the jobs of the group and returns the leader's result.
  jobs::RunResult finish(const RunEnd& end);

 private:
  struct HostState {
    std::size_t job = 0;
    Outcome outcome = Outcome::none;
    std::string error;
    bool is_done = false;
  };
  jobs::RunControl& control_of(std::size_t job);
  void log_lines(std::size_t job, const std::vector<std::string>& lines);
  void show_hosts(std::size_t job, bool is_final);
  OrderedJson hosts_json(std::size_t job) const;
  jobs::RunResult result_of(std::size_t job, const RunEnd& end) const;
  void settle(const RunEnd& end);
  jobs::RunControl& leader_;
  jobs::GroupRun& group_;
  const jobs::SecretMask& mask_;
  mutable std::mutex mutex_;
  std::vector<std::string> order_;  // names of hosts
  std::map<std::string, HostState> hosts_;
  std::vector<std::vector<std::string>> names_;               // of each job
  std::vector<std::string> banner_;                           // the latest lines of no single host
  std::size_t banners_ = 0;                                   // how many there were
  std::vector<std::size_t> seen_banner_;                      // of each job
  std::vector<std::chrono::steady_clock::time_point> shown_;  // when the job's hosts were shown
};

}  // namespace dash::automation
