// The gate's refusals: a Decision as an Error (HTTP 403) with the body of the API
//   {"error": "policy" | "needs_approval", "reasons": […]}
// jobs::submit and the commands use them.
#pragma once
#include "core/policy/decision.hpp"

namespace dash::policy {

// The caller's message when the engine failed. The cause is only in the audit entry and the log.
inline constexpr std::string_view kUnavailable = "Action blocked: policy engine unavailable (fail-closed).";

// Code::policy_denied, or Code::policy_unavailable when the decision has a cause. For verdict deny.
Error denied(const Decision& decision);
// Code::needs_approval, for a caller that cannot make a job wait for an approval: the approval reasons and
// one sentence more.
Error approval_not_expressible(const Decision& decision);
// Returns the `details` of the audit entry <action>:denied or <action>:needs_approval.
OrderedJson audit_details(const Decision& decision);

}  // namespace dash::policy
