// The seam to the policy engine: documents in, what each rule found out. The one implementation (opa.cpp) is
// a resident child over the current generation of the policy directory; every call first looks whether the
// directory moved. Thread-safe.
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
  std::shared_ptr<const RuleSet> rules;  // that judged
};

enum class EngineState {
  idle,         // nobody has needed it yet
  building,     // the folder is checked and an engine started, for the first time or anew
  ready,        //
  broken,       // the rules are: until they change
  unavailable,  // the folder cannot be read, or the engine does not start
};
std::string_view word(EngineState state);  // "idle", "building", …

// What an operator sees of the engine.
struct EngineStatus {
  EngineState state = EngineState::idle;
  std::optional<Deadline> building_since;  // the rest is of the last build that ended
  std::shared_ptr<const RuleSet> rules;    // of the generation that judges; null while broken
  std::optional<Problem> fault;            // why every gated action is refused
  std::vector<std::string> files;          // policy files that are there, also while broken; of refresh()
  std::string directory;
  bool sandboxed = false;  // the child is confined as far as the platform can
};

class Engine {
 public:
  virtual ~Engine() = default;
  // The deadline of a decision that begins now. A server's callers wait no longer for a build than for
  // anything else; a command, which always finds the engine stopped, waits for a whole build as well.
  virtual Deadline deadline() const = 0;
  virtual void
  use_server_deadlines() = 0;  // called before the first question: a server's deadline from now on
  // `document`: the input document as JSON text. Errors are Code::policy_unavailable; the message is the
  // cause.
  virtual Result<EvalResult> evaluate(std::string_view document, Deadline deadline) = 0;
  Result<EvalResult> evaluate(std::string_view document) { return evaluate(document, deadline()); }
  // All of one generation, in one query. An error in one is an error of all.
  virtual Result<std::vector<EvalResult>> evaluate_all(std::span<const std::string> documents) = 0;
  // Whether there is a program to start, without starting it.
  virtual bool is_present() = 0;
  // As last known. Starts nothing, waits for nothing.
  virtual EngineStatus status() = 0;
  // Brings the generation up to date, starts the engine when it is not running, and waits for that until the
  // deadline at most.
  virtual EngineStatus refresh(Deadline deadline) = 0;
  EngineStatus refresh() { return refresh(deadline()); }
  // Has the engine's own thread compare the folder and the engine with what is loaded, and build when they
  // differ. Does not wait.
  virtual void request_check() = 0;
  // A build under way ends, its processes killed, and none begins any more; an engine that runs judges on.
  virtual void cancel() = 0;
  // The heads of deny and needs_approval that come true for the document, by file and line. A run of the
  // engine of its own: for people who ask why, not for the gate.
  virtual Result<std::vector<FiredRule>> fired_heads(std::string_view document) = 0;
  // Whether `query` can hold for some value of the `unknowns`, the rest of the input given (partial
  // evaluation).
  virtual Result<bool> is_satisfiable(std::string_view query, const Json& input,
                                      const std::vector<std::string>& unknowns) = 0;
};

struct EngineOptions {
  std::string directory;                                          // ADMISSION_POLICY_DIR
  std::string binary = "opa";                                     // POLICY_BINARY
  std::string launcher = "/proc/self/exe";                        // understands exec-child
  std::chrono::milliseconds decision_timeout = kDecisionTimeout;  // of one decision
  std::chrono::milliseconds build_timeout = kBuildTimeout;
};

// Starts nothing until it is asked.
std::unique_ptr<Engine> make_opa(EngineOptions options);

// $POLICY_BINARY, else "opa".
std::string engine_binary();
// $DASHCTL_POLICY_BUILD_SECONDS, else kBuildTimeout. Code::usage for what is no number above 0 and up to
// kMaxBuildTimeout.
Result<std::chrono::milliseconds> engine_build_timeout();

}  // namespace dash::policy
