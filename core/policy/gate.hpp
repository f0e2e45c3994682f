// The gate's decision: settings read live, the input document made, the engine asked. It creates no job and
// writes no audit entry (jobs::submit does, from the Decision); it records each decision in the decision log.
// Thread-safe.
#pragma once
#include "core/policy/decision.hpp"
#include "core/policy/settings.hpp"

namespace dash::policy {

class Engine;
class DecisionLog;

class Gate {
 public:
  Gate(config::Settings& settings, Engine& engine, DecisionLog& log)
      : settings_(settings), engine_(engine), log_(log) {}

  // `action`: either spelling. `request`: the normalised members (region, instance_type, image,
  // name, or region, name, workgroup, has_deploy_job), as typed. `at`: the instant that the job is to run.
  // Engine faults and unparsable settings are a Decision (deny, with `cause`), never an Error; an Error here
  // is a broken database. `deadline`: of everything that the caller asks at once; left out: of this one.
  Result<Decision> evaluate(std::string_view action, const Json& request, const Actor& actor, Time at,
                            std::optional<Deadline> deadline = {});
  // The same as a dry run, which the decision log keeps apart: POST /api/admission/check.
  Result<Decision> dry_run(std::string_view action, const Json& request, const Actor& actor, Time at);
  // The deadline of what begins now.
  Deadline deadline() const;
  // The settings as they are now.
  Result<GateSettings> settings();

 private:
  Result<Decision> decide(std::string_view action, const Json& request, const Actor& actor, Time at,
                          std::optional<Deadline> deadline);

  config::Settings& settings_;
  Engine& engine_;
  DecisionLog& log_;
};

// What an evaluation means for the action whose document `input` is, and `text` as JSON; an error in
// `result` closes the gate.
struct EvalResult;
Decision make_decision(const GateSettings& settings, std::string action, Json input, std::string_view text,
                       const Result<EvalResult>& result);

// A digest of the change that `decision` is about: action, request, and the rules and limits that judged it.
std::string approval_digest(const Decision& decision, const Json& request);

// One evaluation under given settings, as if the action were listed: `policy check`, `when` and `diff` use it
// without a database.
Decision evaluate_with(Engine& engine, const GateSettings& settings, std::string_view action,
                       const Json& request, const Actor& actor, Time at,
                       std::optional<Deadline> deadline = {});

// Puts in place of the first head of each rule that has a say the heads that really fired, where the engine
// can tell. Costs a run of the engine.
void locate_fired_heads(Engine& engine, Decision& decision);

}  // namespace dash::policy
