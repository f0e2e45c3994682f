#include "core/policy/refusal.hpp"

namespace dash::policy {
namespace {

std::string sentence(const std::vector<std::string>& reasons) {
  return fmt::format("Blocked by policy: {}", fmt::join(reasons, "; "));
}

Error refusal(Code code, std::string_view word, const std::vector<std::string>& reasons) {
  OrderedJson body{{"error", word}, {"reasons", reasons}};
  return {.code = code,
          .message = sentence(reasons),
          .body = std::make_shared<const OrderedJson>(std::move(body))};
}

}  // namespace

Error denied(const Decision& decision) {
  auto out =
      refusal(decision.cause ? Code::policy_unavailable : Code::policy_denied, "policy", decision.reasons);
  if (decision.cause) out.detail = *decision.cause;
  return out;
}

Error approval_not_expressible(const Decision& decision) {
  auto reasons = decision.approval_reasons;
  reasons.emplace_back("Approval is required, and it cannot be requested for this kind of change.");
  return refusal(Code::needs_approval, "needs_approval", reasons);
}

OrderedJson audit_details(const Decision& d) {
  OrderedJson out;
  if (d.cause)
    out["reasons"] = {fmt::format("policy engine unavailable: {}", *d.cause)};
  else
    out["reasons"] = d.verdict == Verdict::needs_approval ? d.approval_reasons : d.reasons;
  out["rules"] = OrderedJson::array();
  for (const auto& rule : d.rules) out["rules"].push_back(rule.id);
  out["policy_digest"] = d.policy_digest;
  out["input_digest"] = d.input_digest;
  return out;
}

}  // namespace dash::policy
