#include "core/policy/aggregator.hpp"

#include <algorithm>
#include <set>

namespace dash::policy {
namespace {

// A member that is no set has no place in `sets`, which is then in the answer.
constexpr std::string_view kModule = R"(package {0}

batch := [result | some document in input.batch; result := answer with input as document]

answer := {{"reasons": reasons}} if sets == wanted

answer := {{"reasons": reasons, "sets": sets}} if sets != wanted

wanted := {{"deny": {1}, "needs_approval": {2}}}

found := {{
	"deny": {{id: listed | some id; listed := data.admission[id].deny; is_set(listed)}},
	"needs_approval": {{id: listed | some id; listed := data.admission[id].needs_approval; is_set(listed)}},
}}

sets[member] := object.keys(found[member]) if some member in ["deny", "needs_approval"]

reasons := [[id, member, listed] | some member, by_rule in found; some id, listed in by_rule; count(listed) > 0]
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

// Fails for a member that is not among the engine's `sets`, and names it.
Result<void> check_sets(const Json& sets, const RuleSet& rules) {
  auto missing = members(rules);
  if (!sets.is_object()) return unexpected_answer();
  for (const auto& [name, ids] : sets.items()) {
    if (!ids.is_array()) return unexpected_answer();
    for (const auto& id : ids)
      if (id.is_string()) missing.erase({id.get<std::string>(), name});
  }
  return missing.empty() ? Result<void>() : wrong_shape(*missing.begin(), rules);
}

bool evaluates(const Member& member, const RuleSet& rules) {
  return std::ranges::any_of(rules.rules, [&](const RuleFile& r) {
    return r.evaluates && r.rule == member.first && (member.second == "deny" ? r.has_deny : r.has_approval);
  });
}

// {"a", "b"} of the rules that define `name`.
std::string set_of_ids(const std::set<Member>& all, std::string_view name) {
  std::string out;
  for (const auto& [id, defined] : all)
    if (defined == name) out += (out.empty() ? "" : ", ") + dump_json(Json(id));
  return out.empty() ? "set()" : fmt::format("{{{}}}", out);
}

}  // namespace

std::string aggregator_module(const RuleSet& rules) {
  const auto all = members(rules);
  return fmt::format(kModule, kGatePackage, set_of_ids(all, "deny"), set_of_ids(all, "needs_approval"));
}

Result<RuleOutcomes> parse_outcomes(const Json& answer, const RuleSet& rules) {
  if (!answer.is_object() || !answer.contains("reasons") || !answer["reasons"].is_array())
    return unexpected_answer();
  if (answer.contains("sets")) TRY(check_sets(answer["sets"], rules));
  RuleOutcomes out;
  for (const auto& entry : answer["reasons"]) {
    if (!entry.is_array() || entry.size() != 3 || !entry[0].is_string() || !entry[1].is_string() ||
        !entry[2].is_array())
      return unexpected_answer();
    const Member member{entry[0].get<std::string>(), entry[1].get<std::string>()};
    if (!evaluates(member, rules)) continue;  // a helper's
    if (!std::ranges::all_of(entry[2], &Json::is_string)) return wrong_shape(member, rules);
    auto& found = out[member.first];
    (member.second == "deny" ? found.deny : found.needs_approval) = entry[2].get<std::vector<std::string>>();
  }
  return out;
}

}  // namespace dash::policy
