// The gate's decision about one action, and the input of that decision. Plain values: jobs, commands and
// routes pass them around.
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/json.hpp"

namespace dash::policy {

// One deadline for everything that a caller waits for: a build of the engine, a restart, a retry, all items
// of a batch.
using Deadline = std::chrono::steady_clock::time_point;

enum class Verdict { allow, deny, needs_approval };
std::string_view word(Verdict verdict);  // "allow", "deny", "needs_approval"

// The `actor` of the input document.
struct Actor {
  std::string username;
  bool is_admin = false;
  std::string request_id = {};  // of the request that the decision is made for; no rule reads it
};

// A rule that contributed a reason, with its file and line.
struct FiredRule {
  std::string id;    // "allowed_regions": the last segment of its package
  std::string file;  // relative to the policy directory; "builtin/<id>.rego" when embedded
  int line = 0;      // of its first deny (or needs_approval) head, or of one that fired; 0 when unknown
};

struct Decision {
  bool gated = false;  // false: the gate is off or the action is not listed; then only `action` is meaningful
  std::string action;  // canonical
  bool provider_names = false;  // show `action` in the provider's spelling (setting cloud_names)
  Verdict verdict = Verdict::allow;
  std::vector<std::string> reasons;           // why it is denied
  std::vector<std::string> approval_reasons;  // why another user must approve; also set under deny
  std::vector<FiredRule> rules;               // ascending by id
  bool enforce_needs_approval = false;        // the setting at that instant
  std::string policy_digest;  // SHA-256 hex of the rule set that was evaluated; empty on an engine fault
  std::string input_digest;   // SHA-256 hex of the input document
  Json input;                 // the evaluated document
  // Why the engine failed (verdict is then deny, and `reasons` the one generic sentence). For audit entry and
  // log only.
  std::optional<std::string> cause;
};

// Returns the shape of `--output json` and of POST /api/admission/check: {action, gated, verdict, reasons,
// approval_reasons, rules: [{id, file, line}], enforce_needs_approval, policy_digest, input_digest, input}
// and `cause` with `reveal_cause`.
OrderedJson to_json(const Decision& decision, bool reveal_cause);

}  // namespace dash::policy
