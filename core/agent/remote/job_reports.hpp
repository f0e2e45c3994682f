// What an agent says of a job: its log, its progress, its end. What breaks on its way is sent again as it was,
// until the dashboard has answered; an answer, whatever it says, ends it, because the first one that a dashboard
// took stands. Thread-safe.
#pragma once
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "core/agent/remote/dashboard_client.hpp"
#include "core/agent/remote/job_runner.hpp"

namespace dash::agent {

inline constexpr std::chrono::seconds kDeliveryTime{
    90};                                            // as long as a caller of the dashboard waits for a job
inline constexpr std::size_t kMaxErrorChars = 400;  // as the deployed agents cut theirs

// What of a result is the job's end. A refusal of the policy begins with kPolicyRefusal; the secrets of the job
// are replaced in its error.
Completion completion_of(const Result<Json>& result, const JobContext& context);

class JobReports {
 public:
  // `is_stopping` is asked between two attempts: an agent that ends tries once more and then goes.
  JobReports(DashboardClient& dashboard, std::function<bool()> is_stopping)
      : dashboard_(dashboard), is_stopping_(std::move(is_stopping)) {}

  // Returns whether the dashboard has answered within `time`.
  bool complete(const LeasedJob& job, const Completion& completion,
                std::chrono::seconds time = kDeliveryTime);
  // Sends lines in as many requests as they need; `first` is the number of the first one in the job, from 1. The
  // dashboard keeps a line that comes again once.
  bool logs(const LeasedJob& job, const std::vector<std::string>& lines, std::int64_t first);
  // Returns whether the dashboard wants the job to be stopped.
  bool is_cancelled(const LeasedJob& job, const Heartbeat& heartbeat);

 private:
  using Send = std::function<Result<net::HttpResponse>()>;
  Result<net::HttpResponse> deliver(const LeasedJob& job, std::string_view what, const Send& send,
                                    std::chrono::seconds time);
  DashboardClient& dashboard_;
  const std::function<bool()> is_stopping_;
};

}  // namespace dash::agent
