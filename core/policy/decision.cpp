#include "core/policy/decision.hpp"

#include "core/config/clouds.hpp"

namespace dash::policy {

std::string_view word(Verdict verdict) {
  switch (verdict) {
    case Verdict::allow:
      return "allow";
    case Verdict::deny:
      return "deny";
    case Verdict::needs_approval:
      return "needs_approval";
  }
  return "deny";
}

OrderedJson to_json(const Decision& d, bool reveal_cause) {
  OrderedJson out{{"action", d.provider_names ? config::provider_action(d.action) : d.action},
                  {"gated", d.gated},
                  {"verdict", word(d.verdict)},
                  {"reasons", d.reasons},
                  {"approval_reasons", d.approval_reasons}};
  out["rules"] = OrderedJson::array();
  for (const auto& rule : d.rules)
    out["rules"].push_back({{"id", rule.id}, {"file", rule.file}, {"line", rule.line}});
  out["enforce_needs_approval"] = d.enforce_needs_approval;
  out["policy_digest"] = d.policy_digest;
  out["input_digest"] = d.input_digest;
  out["input"] = d.input;
  if (d.cause && reveal_cause) out["cause"] = *d.cause;
  return out;
}

}  // namespace dash::policy
