// The interface to the policy engine: documents in, the outcome of each rule out. The one implementation
// (opa.cpp) is a resident child over the current version of the policy directory. Every call first checks
// whether the directory changed. Thread-safe.
#pragma once
#include <memory>
#include <optional>
#include <span>

#include "core/policy/aggregator.hpp"
#include "core/policy/decision.hpp"

namespace dash::policy {

inline constexpr std::chrono::milliseconds kDecisionTimeout{2'500};
inline constexpr std::chrono::seconds kBuildTimeout{5};
inline constexpr std::chrono::seconds kMaxBuildTimeout{60};

struct EvalResult {
  RuleOutcomes outcomes;
  std::shared_ptr<const RuleSet> rules;  // the rules that were evaluated
};

enum class EngineState {
  idle,         // not needed yet
  building,     // the folder is checked and an engine started, for the first time or again
  ready,        //
  broken,       // the rules are broken, until they change
  unavailable,  // the folder cannot be read, or the engine does not start
};
std::string_view word(EngineState state);  // "idle", "building", …

// The state of the engine for an operator.
struct EngineStatus {
  EngineState state = EngineState::idle;
  std::optional<Deadline> building_since;  // from here on: of the last build that ended
  std::shared_ptr<const RuleSet> rules;    // the rules in use; null while broken
  std::optional<Problem> fault;            // why every gated action is refused
  std::vector<std::string> files;          // policy files in the folder, also while broken; set by refresh()
  std::string directory;
  bool sandboxed = false;  // the child is confined as far as the platform can
};

class Engine {
 public:
  virtual ~Engine() = default;
  // Returns the deadline of a decision that begins now. On a server a build gets no extra time. A command,
  // which always finds the engine stopped, waits for a whole build as well.
  virtual Deadline deadline() const = 0;
  // Sets a server's deadlines; called before the first evaluation.
  virtual void use_server_deadlines() = 0;
  // Evaluates `document`, the input document as JSON text. Errors are Code::policy_unavailable; the message
  // is the cause.
  virtual Result<EvalResult> evaluate(std::string_view document, Deadline deadline) = 0;
  Result<EvalResult> evaluate(std::string_view document) { return evaluate(document, deadline()); }
  // Evaluates all of them with one version of the rules, in one query. An error in one is an error of all.
  virtual Result<std::vector<EvalResult>> evaluate_all(std::span<const std::string> documents) = 0;
  // Returns whether there is a program to start, without starting it.
  virtual bool is_present() = 0;
  // Returns the last known state. Starts nothing, waits for nothing.
  virtual EngineStatus status() = 0;
  // Loads the folder as it is now and starts the engine when it is not running. Waits for both until the
  // deadline at most.
  virtual EngineStatus refresh(Deadline deadline) = 0;
  EngineStatus refresh() { return refresh(deadline()); }
  // Makes the engine's own thread compare the folder and the engine with what is loaded, and build when they
  // differ. Does not wait.
  virtual void request_check() = 0;
  // Ends a build under way, kills its processes, and prevents others. A running engine goes on.
  virtual void cancel() = 0;
  // Returns the heads of deny and needs_approval that come true for the document, by file and line. It costs
  // a separate run of the engine: for users who want the reason, not for the gate.
  virtual Result<std::vector<FiredRule>> fired_heads(std::string_view document) = 0;
  // Returns whether `query` can hold for some value of the `unknowns`, the rest of the input given (partial
  // evaluation).
  virtual Result<bool> is_satisfiable(std::string_view query, const Json& input,
                                      const std::vector<std::string>& unknowns) = 0;
};

struct EngineOptions {
  std::string directory;                                          // ADMISSION_POLICY_DIR
  std::string binary = "opa";                                     // POLICY_BINARY
  std::string launcher = "/proc/self/exe";                        // the program of exec-child
  std::chrono::milliseconds decision_timeout = kDecisionTimeout;  // of one decision
  std::chrono::milliseconds build_timeout = kBuildTimeout;
};

// Starts nothing until the first call.
std::unique_ptr<Engine> make_opa(EngineOptions options);

// Returns $POLICY_BINARY, else "opa".
std::string engine_binary();
// Returns $DASHCTL_POLICY_BUILD_SECONDS, else kBuildTimeout. Code::usage unless it is a number above 0 and up
// to kMaxBuildTimeout.
Result<std::chrono::milliseconds> engine_build_timeout();

}  // namespace dash::policy
