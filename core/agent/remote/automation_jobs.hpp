// Carries automation jobs out: ansible on this machine, at hosts that the policy allows, confined as a dashboard's
// own runs are. The asset is fetched and compared with its digest; secrets are asked for one by one and lie in
// memory alone. Its jobs wait for each other.
#pragma once
#include <functional>
#include <string>

#include "core/agent/remote/dashboard_client.hpp"
#include "core/agent/remote/job_reports.hpp"
#include "core/agent/remote/job_runner.hpp"
#include "core/agent/remote/policy.hpp"
#include "core/agent/remote/settings.hpp"

namespace dash::agent {

class AutomationJobs final : public JobRunner {
 public:
  AutomationJobs(const Settings& settings, const Policy& policy, DashboardClient& dashboard,
                 std::function<bool()> is_stopping, std::string launcher)
      : settings_(settings),
        policy_(policy),
        dashboard_(dashboard),
        is_stopping_(std::move(is_stopping)),
        launcher_(std::move(launcher)) {}

  // The job has a result when ansible began, however it ended; `reason` says how.
  Result<Json> run(const LeasedJob& job, JobContext& context) override;

  // Returns whether runs are possible here: ansible, a folder in memory and a confinement. Code::conflict says
  // what is missing.
  static Result<void> check_usable(const std::string& state_folder);

 private:
  const Settings& settings_;
  const Policy& policy_;
  DashboardClient& dashboard_;
  const std::function<bool()> is_stopping_;
  const std::string launcher_;
};

}  // namespace dash::agent
