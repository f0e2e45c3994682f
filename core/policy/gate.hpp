// The gate: decides whether an action may run now. It creates no job and writes no audit entry (jobs::submit
// does, from the Decision). EngineGate is the real one; tests of jobs have one of their own. Thread-safe.
#pragma once
#include "core/policy/decision.hpp"
#include "core/policy/settings.hpp"

namespace dash::policy {

class Engine;
class DecisionLog;

class Gate {
 public:
  virtual ~Gate() = default;
  // `action`: either spelling. `request`: region, instance_type, image and name of a deploy, or region,
  // name, workgroup and has_deploy_job of a teardown, as typed. `at`: the instant at which the job is to run.
  // `deadline`: of all that the caller asks for at once; left out: of this one evaluation.
  // Engine faults and unparsable settings are a Decision (deny, with `cause`). An Error is a broken database.
  virtual Result<Decision> evaluate(std::string_view action, const Json& request, const Actor& actor, Time at,
                                    std::optional<Deadline> deadline = {}) = 0;
  // The same as a dry run, which the decision log keeps apart: POST /api/admission/check.
  virtual Result<Decision> dry_run(std::string_view action, const Json& request, const Actor& actor,
                                   Time at) = 0;
  // The deadline of an evaluation that begins now.
  virtual Deadline deadline() const = 0;
  // The settings as they are now.
  virtual Result<GateSettings> settings() = 0;
};

// Reads the settings live, makes the input document, evaluates it in the engine and records each decision in
// the decision log. Keeps nothing.
class EngineGate final : public Gate {
 public:
  EngineGate(config::Settings& settings, Engine& engine, DecisionLog& log)
      : settings_(settings), engine_(engine), log_(log) {}

  Result<Decision> evaluate(std::string_view action, const Json& request, const Actor& actor, Time at,
                            std::optional<Deadline> deadline = {}) override;
  Result<Decision> dry_run(std::string_view action, const Json& request, const Actor& actor,
                           Time at) override;
  Deadline deadline() const override;
  Result<GateSettings> settings() override;

 private:
  Result<Decision> evaluate_unrecorded(std::string_view action, const Json& request, const Actor& actor,
                                       Time at, std::optional<Deadline> deadline);

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
