#include "core/policy/aggregator.hpp"

#include <algorithm>
#include <set>

namespace dash::policy {
namespace {

constexpr std::string_view kModuleHead = R"(package {}

batch := [result | some document in input.batch; result := answer with input as document]

answer contains [] if false
)";

constexpr std::string_view kMemberRule = R"(
answer contains [{0}, "{1}", listed] if {{
	listed := data.admission[{0}].{1}
	is_set(listed)
}}
)";

using Member = std::pair<std::string, std::string>;  // rule id, "deny" or "needs_approval"

// Members that the rules define.
std::set<Member> members(const RuleSet& rules) {
  std::set<Member> out;
  for (const auto& rule : rules.rules) {
    if (!rule.evaluates) continue;
    if (rule.has_deny) out.emplace(*rule.rule, "deny");
    if (rule.has_approval) out.emplace(*rule.rule, "needs_approval");
  }
  return out;
}

Failure unexpected_answer() {
  return fail(Code::policy_unavailable,
              "the policy engine's answer has another shape than the gate's own module gives");
}

Failure wrong_shape(const Member& member, const RuleSet& rules) {
  const auto& [id, name] = member;
  auto it = std::ranges::find_if(rules.rules, [&](const RuleFile& r) { return r.evaluates && r.rule == id; });
  auto place = it == rules.rules.end() ? std::string("?") : fmt::format("{}:{}", it->file, it->line);
  return fail(Code::policy_unavailable,
              "{}: {} is not a set of strings (or is undefined); write {} contains \"reason\" if {{ … }}",
              place, name, name);
}

}  // namespace

std::string aggregator_module(const RuleSet& rules) {
  auto out = fmt::format(kModuleHead, kGatePackage);
  for (const auto& [id, name] : members(rules)) out += fmt::format(kMemberRule, dump_json(Json(id)), name);
  return out;
}

Result<RuleOutcomes> parse_outcomes(const Json& answer, const RuleSet& rules) {
  if (!answer.is_array()) return unexpected_answer();
  auto missing = members(rules);
  RuleOutcomes out;
  for (const auto& entry : answer) {
    if (!entry.is_array() || entry.size() != 3 || !entry[0].is_string() || !entry[1].is_string() ||
        !entry[2].is_array())
      return unexpected_answer();
    auto member = missing.extract({entry[0].get<std::string>(), entry[1].get<std::string>()});
    if (member.empty()) return unexpected_answer();
    if (!std::ranges::all_of(entry[2], &Json::is_string)) return wrong_shape(member.value(), rules);
    if (entry[2].empty()) continue;
    auto& found = out[member.value().first];
    (member.value().second == "deny" ? found.deny : found.needs_approval) =
        entry[2].get<std::vector<std::string>>();
  }
  if (!missing.empty()) return wrong_shape(*missing.begin(), rules);
  return out;
}

}  // namespace dash::policy
