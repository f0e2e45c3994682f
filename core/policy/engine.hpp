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

inline constexpr std::chrono::milliseconds kDecisionDeadline{2'000};

struct Judgement {
  Answer answer;
  std::shared_ptr<const RuleSet> rules;  // that judged
};

// What an operator sees of the engine.
struct EngineStatus {
  std::shared_ptr<const RuleSet> rules;  // of the generation that judges; null while broken
  std::optional<Problem> fault;          // why every gated action is refused
  std::vector<std::string> files;        // policy files that are there, also while broken
  std::string directory;
  bool sandboxed = false;  // the child is confined as far as the platform can
};

class Engine {
 public:
  virtual ~Engine() = default;
  // `document`: the input document as JSON text. Errors are Code::policy_unavailable; the message is the
  // cause.
  virtual Result<Judgement> judge(std::string_view document) = 0;
  // All of one generation, in one query. An error in one is an error of all.
  virtual Result<std::vector<Judgement>> judge_all(std::span<const std::string> documents) = 0;
  // Whether there is a program to start, without starting it.
  virtual bool is_present() = 0;
  // Brings the generation up to date and starts the engine when it is not running.
  virtual EngineStatus status() = 0;
  // The heads of deny and needs_approval that come true for the document, by file and line. A run of the
  // engine of its own: for people who ask why, not for the gate.
  virtual Result<std::vector<FiredRule>> heads_that_fire(std::string_view document) = 0;
  // Whether `query` can hold for some value of the `unknowns`, the rest of the input given (partial
  // evaluation).
  virtual Result<bool> satisfiable(std::string_view query, const Json& input,
                                   const std::vector<std::string>& unknowns) = 0;
};

struct EngineOptions {
  std::string directory;                                   // ADMISSION_POLICY_DIR
  std::string binary = "opa";                              // POLICY_BINARY
  std::string launcher = "/proc/self/exe";                 // understands exec-child
  std::chrono::milliseconds deadline = kDecisionDeadline;  // of one decision
};

// Starts nothing until it is asked.
std::unique_ptr<Engine> make_opa(EngineOptions options);

// $POLICY_BINARY, else "opa".
std::string engine_binary();

}  // namespace dash::policy
