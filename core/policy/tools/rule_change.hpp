// "What would this rule change?": one rule with another text, over the recorded decisions. Both versions run in
// engines of their own, sandboxed as the gate's, so that a heavy rule delays no decision. POST
// /api/admission/diff calls it. Thread-safe.
#pragma once
#include <mutex>

#include "core/policy/tools/diff.hpp"

namespace dash::policy {

inline constexpr std::chrono::seconds kRuleChangeTimeout{10};
inline constexpr std::size_t kMaxRuleText = 256u << 10;
inline constexpr std::size_t kMaxShownRuleChanges = 200;

struct RuleChange {
  std::string rule_id;  // of package admission.<rule_id>
  std::string text;
};

struct RuleChangeResult {
  std::optional<std::string> file;  // that the text would replace; none: a new rule, or one of the built-ins
  PolicyDiff diff;
};
//   {rule_id, file, compared, changed, changes: [{source, input, old, new}]}
// with the first changes only, deny ↔ allow before changed reasons.
OrderedJson to_json(const RuleChange& change, const RuleChangeResult& result);

class RuleChanges {
 public:
  RuleChanges(Engine& live, DecisionLog& decisions) : live_(live), decisions_(decisions) {}

  // Admins only. Code::validation for an id that no package can have, and for a text that does not compile or
  // would never evaluate; Code::conflict while another runs, and while the rules in use are broken; Code::busy
  // after kRuleChangeTimeout and without an engine.
  Result<RuleChangeResult> evaluate(const Principal& principal, const RuleChange& change);

 private:
  Engine& live_;
  DecisionLog& decisions_;
  std::mutex running_;
};

}  // namespace dash::policy
