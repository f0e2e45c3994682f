// The run of one deploy or destroy job. One thread uses it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/deploy/deploys.hpp"
#include "core/deploy/plan.hpp"
#include "core/deploy/program.hpp"
#include "core/deploy/state_server.hpp"
#include "core/jobs/plan.hpp"

namespace dash::deploy {

class DeployRun {
 public:
  DeployRun(Deploys& deploys, const jobs::Job& job, const Json& parameters, jobs::RunControl& control);
  Result<jobs::RunResult> run();

 private:
  bool is_teardown() const { return action_.kind == jobs::ActionKind::teardown; }
  Result<ModuleFolder> choose_module(const std::optional<DeployRecord>& record);
  // Settles what earlier runs on this state left, after their programs have ended.
  Result<void> await_earlier_runs();
  Result<Json> variable_values(const ModuleFolder& module) const;
  Result<void> prepare(const ModuleFolder& module);
  Result<jobs::RunResult> work();
  Result<jobs::RunResult> plan();
  Result<jobs::RunResult> hold_plan(const PlanSummary& summary, const jobs::PlanChanges& changes,
                                    std::string bytes, Json state_basis);
  // Goes on with a plan that was approved, and no other.
  Result<jobs::RunResult> apply_approved(const jobs::Plan& plan);
  Result<jobs::RunResult> apply();
  void name_left_resources(jobs::RunResult& result);
  Result<jobs::RunResult> finish_apply(const ProgramResult& applied);
  Result<void> report_outputs(const std::string& state, jobs::RunResult& out);
  jobs::RunResult step_failed(std::string_view step, const ProgramResult& result) const;
  void clean_up();
  void warn(std::string text);

  Deploys& deploys_;
  const jobs::Job& job_;
  const Json& parameters_;
  jobs::RunControl& control_;
  const jobs::Action& action_;
  const std::string state_job_;      // the deploy whose state it is; empty: none
  const std::string deploy_action_;  // by which its module is found
  WorkFolder folder_;
  std::unique_ptr<storage::LockedState> state_;
  std::unique_ptr<StateServer> server_;
  std::unique_ptr<Program> program_;
  std::optional<jobs::Plan> approved_;
  OrderedJson warnings_ = OrderedJson::array();
};

}  // namespace dash::deploy
