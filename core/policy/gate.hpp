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
  // `deadline`: of everything that the caller evaluates at once; the default is one evaluation's.
  // Engine faults and unparsable settings are a Decision (deny, with `cause`). An Error is a broken database.
  virtual Result<Decision> evaluate(std::string_view action, const Json& request, const Actor& actor, Time at,
                                    std::optional<Deadline> deadline = {}) = 0;
  // Evaluates as a dry run, which the decision log records apart: POST /api/admission/check.
  virtual Result<Decision> dry_run(std::string_view action, const Json& request, const Actor& actor,
                                   Time at) = 0;
  // Returns the deadline of an evaluation that begins now.
  virtual Deadline deadline() const = 0;
  // Returns the current settings.
  virtual Result<GateSettings> settings() = 0;
};

// Reads the settings live, makes the input document, evaluates it in the engine and records each decision in
// the decision log. Has no state of its own.
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

// Returns the decision that follows from an evaluation of the document `input` (`text` as JSON). An error in
// `result` closes the gate.
struct EvalResult;
Decision make_decision(const GateSettings& settings, std::string action, Json input, std::string_view text,
                       const Result<EvalResult>& result);

// Returns a digest of the change of `decision`: action, request, and the rules and limits that were
// evaluated.
std::string approval_digest(const Decision& decision, const Json& request);

// Evaluates once under given settings, as if the action were listed. `policy check`, `when` and `diff` use it
// without a database.
Decision evaluate_with(Engine& engine, const GateSettings& settings, std::string_view action,
                       const Json& request, const Actor& actor, Time at,
                       std::optional<Deadline> deadline = {});

// Replaces the first head of each rule of the decision by the heads that really fired, where the engine can
// find them. Costs a run of the engine.
void locate_fired_heads(Engine& engine, Decision& decision);

}  // namespace dash::policy
