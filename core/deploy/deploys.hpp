// Built-in deploys and destroys: where no operator's executable stands for an action, the infrastructure program
// runs the action's module. Its state goes through this process to the active backend. A plan is made first, and
// exactly that plan is applied. Thread-safe.
#pragma once
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "core/deploy/records.hpp"
#include "core/deploy/work_folder.hpp"
#include "core/jobs/jobs.hpp"
#include "core/jobs/runner.hpp"
#include "core/storage/settings/locked_state.hpp"
#include "core/storage/settings/stores.hpp"

namespace dash::deploy {

// What a job says whose program was killed: `state_job` is the deploy.
std::string unrecorded_warning(const std::string& state_job);

class Deploys {
 public:
  struct Options {
    std::string executor_folder;  // absolute: modules, and the mirror providers/
    std::string deploy_folder;    // absolute: states while a file system is active
    std::string work_folder;      // absolute: a folder a job
    std::string launcher;         // this binary
  };
  Deploys(const jobs::Deps& jobs, storage::OpenStore open, Options options);

  // Registers a runner for each deploy, provision and teardown.
  void add_runners(jobs::Runners& runners);
  // Returns why an action (canonical) is not run here: no module, or what to change about it. nullopt when it
  // is. An answer is good for a second.
  std::optional<std::string> obstacle(const std::string& action);
  // Returns the module of a deploy action; nullopt where there is none. Errors as read_module().
  Result<std::optional<ModuleFolder>> module(const std::string& action) const;

  // Settles what programs left whose server died. Called once a second by `serve`.
  void tick();

 private:
  friend class DeployRun;
  struct Obstacle {
    std::chrono::steady_clock::time_point asked_at;
    std::optional<std::string> text;
  };
  std::optional<std::string> find_obstacle(const std::string& action);
  Result<std::unique_ptr<storage::LockedState>> open_state(const std::string& job_id) const;
  Result<jobs::RunResult> run(const jobs::Job& job, const Json& parameters, jobs::RunControl& control);
  // Settles what an ended program left in its folder, and removes that.
  Result<void> settle_folder(const WorkFolder& folder, storage::LockedState& state,
                             const std::string& state_job);
  Result<void> settle_left_folder(const std::string& job_id);
  Result<void> settle_kept_states();
  // Returns whether the job, or one that changes the same state, runs somewhere.
  Result<bool> is_active(const std::string& job_id) const;

  const jobs::Deps jobs_;
  const storage::OpenStore open_;
  const Options options_;
  Records records_;
  mutable std::mutex mutex_;
  std::map<std::string, Obstacle> obstacles_;  // by action
  std::set<std::string> own_;                  // deploys whose state this process works on
  std::chrono::steady_clock::time_point settled_at_{};
};

}  // namespace dash::deploy
