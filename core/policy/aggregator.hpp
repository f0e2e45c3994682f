// The private module that is loaded beside the rules. It asks for the rules' sets inside of the engine, where a set
// still differs from an array:
//   {"reasons": [[<id>, "deny" | "needs_approval", [s]]]}    of the sets that are not empty
// Where a rule's member is no set, or is undefined, `sets` is there too and lists those that are:
//   {"deny": [<id>], "needs_approval": [<id>]}
// `batch` evaluates many documents in one query.
#pragma once
#include <map>

#include "core/policy/rule_set.hpp"

namespace dash::policy {

inline constexpr std::string_view kGatePackage = "dashctl_gate";

std::string aggregator_module(const RuleSet& rules);

struct RuleOutcome {
  std::vector<std::string> deny, needs_approval;
};
using RuleOutcomes = std::map<std::string, RuleOutcome>;  // by rule id; only rules with a result

// Code::policy_unavailable for a rule whose deny or needs_approval is no set of strings (naming file and
// line), and for any other shape than the module's.
Result<RuleOutcomes> parse_outcomes(const Json& answer, const RuleSet& rules);

}  // namespace dash::policy
