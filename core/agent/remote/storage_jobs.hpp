// Carries storage jobs out: judged by the policy before anything is looked for, so that a refusal tells nothing of
// what this machine has.
#pragma once
#include <string>

#include "core/agent/remote/dashboard_client.hpp"
#include "core/agent/remote/job_runner.hpp"
#include "core/agent/remote/policy.hpp"
#include "core/agent/remote/settings.hpp"
#include "core/agent/remote/share_files.hpp"

namespace dash::agent {

class StorageJobs final : public JobRunner {
 public:
  StorageJobs(const Settings& settings, const Policy& policy, DashboardClient& dashboard, const Clock& clock,
              std::string launcher);

  Result<Json> run(const LeasedJob& job, JobContext& context) override;

 private:
  // The share's own password, or the one that the dashboard releases for this job.
  Result<Secret> password_of(const Share& share, const LeasedJob& job, JobContext& context);
  Result<Json> carry_out(const StorageJob& job, ShareFiles& files);
  const Settings& settings_;
  const Policy& policy_;
  DashboardClient& dashboard_;
  const storage::local::RootRules rules_;
  const ShareDeps deps_;
};

}  // namespace dash::agent
