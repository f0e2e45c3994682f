// The log and the hosts of one automation job while it runs: what happens goes to the dashboard every two seconds
// with a heartbeat, from a thread of its own, which also learns of a cancellation. Thread-safe.
#pragma once
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/agent/protocol/automation_job.hpp"
#include "core/agent/remote/job_reports.hpp"
#include "core/automation/run_events.hpp"
#include "core/jobs/secret_mask.hpp"

namespace dash::agent {

class RunReporter {
 public:
  RunReporter(JobReports& reports, const LeasedJob& job, const std::vector<AutomationHost>& hosts,
              const jobs::SecretMask& mask);
  ~RunReporter();  // sends what is left of the log

  void on_event(const automation::RunEvent& event);
  // A line of the program's own output.
  void on_output(const std::string& line);
  bool is_cancelled() const { return is_cancelled_; }
  std::size_t bad_hosts() const;
  std::vector<AutomationHostResult> hosts() const;

 private:
  void add_lines(const std::vector<std::string>& lines);
  void keep_reporting();
  void flush(std::unique_lock<std::mutex>& lock);
  JobReports& reports_;
  const LeasedJob& job_;
  const jobs::SecretMask& mask_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::string> order_;
  std::map<std::string, AutomationHostResult> hosts_;
  std::map<std::string, bool> done_;
  std::vector<std::string> lines_;
  std::int64_t sent_lines_ = 0;
  bool is_closing_ = false;
  std::atomic<bool> is_cancelled_ = false;
  std::thread thread_;
};

}  // namespace dash::agent
