// Resolves `post_deploy` of a deploy's body: the asset, its scope and its bytes as they are at the request. The
// host is known only when the deploy has ended (deploy_host.hpp). Thread-safe.
#pragma once
#include "core/automation/runner_choice.hpp"
#include "core/config/settings.hpp"
#include "core/jobs/post_deploy.hpp"
#include "core/storage/assets/assets.hpp"

namespace dash::automation {

class PostDeploy final : public jobs::PostDeployRuns {
 public:
  struct Deps {
    storage::Stores& stores;
    storage::Assets& assets;
    config::Settings& settings;
    const jobs::Executors& executors;
    std::string data_dir;
  };
  explicit PostDeploy(Deps deps) : deps_(std::move(deps)) {}

  // Errors, in the order in which they are looked for: Code::conflict while no storage is active;
  // Code::not_found for the asset; Code::conflict while automation is off; Code::invalid for an asset that cannot
  // run there and for variables; Code::conflict for a runner that is missing.
  Result<jobs::PostDeployRun> resolve(const Principal& principal, const std::optional<std::string>& workgroup,
                                      const jobs::PostDeployEntry& entry) override;

 private:
  Deps deps_;
};

}  // namespace dash::automation
