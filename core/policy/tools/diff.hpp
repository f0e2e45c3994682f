// `policy diff OLD NEW`: every verdict that changes between two policy directories, over decisions that were
// recorded and over the finite domain (domain.hpp).
#pragma once
#include "core/policy/decision_log.hpp"
#include "core/policy/engine.hpp"
#include "core/policy/settings.hpp"

namespace dash::policy {

// The outcome of one directory for one document.
struct Evaluation {
  Verdict verdict = Verdict::allow;
  std::vector<std::string> reasons;  // of the deny, else of the approval
  std::optional<std::string> cause;  // the engine failed on it: the gate would refuse
  bool operator==(const Evaluation&) const = default;
};

struct VerdictChange {
  bool is_recorded = false;  // a document of the decision log, else of the domain
  Json input;
  Evaluation before, after;
};

struct PolicyDiff {
  std::size_t compared = 0, recorded = 0;
  std::vector<VerdictChange> changes;  // verdicts first: deny ↔ allow before changed reasons
};

struct DiffOptions {
  Limits limits{};         // tried in the domain, besides built-in samples
  bool has_domain = true;  // false: only what was recorded
  Deadline deadline = Deadline::max();
};

// Code::policy_unavailable when rules of one of the two are broken; Code::busy at the deadline.
Result<PolicyDiff> diff_policies(Engine& before, Engine& after, const std::vector<DecisionRecord>& recorded,
                                 const DiffOptions& options);
OrderedJson to_json(const PolicyDiff& diff);

}  // namespace dash::policy
