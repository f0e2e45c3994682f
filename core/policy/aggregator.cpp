#include "core/policy/aggregator.hpp"

#include <algorithm>
#include <set>

namespace dash::policy {
namespace {

constexpr std::string_view kHead = R"(package {}

strings(x) if {{
	is_set(x)
	every element in x {{
		is_string(element)
	}}
}}

# A function's argument has no static type, so a wrong shape is a fault here and not a compile error.
some_strings(x) := x if {{
	strings(x)
	x != set()
}}

answer := {{"found": found, "faults": expected - sound}}

batch := [result | some document in input.batch; result := answer with input as document]

found contains [] if false

sound contains [] if false
)";

// Members that the rules define, as (id, member) pairs.
std::set<std::pair<std::string, std::string>> members(const RuleSet& rules) {
  std::set<std::pair<std::string, std::string>> out;
  for (const auto& rule : rules.rules) {
    if (!rule.evaluates) continue;
    if (rule.has_deny) out.emplace(*rule.rule, "deny");
    if (rule.has_approval) out.emplace(*rule.rule, "needs_approval");
  }
  return out;
}

Failure strange() {
  return fail(Code::policy_unavailable,
              "the policy engine's answer has another shape than the gate's own module gives");
}

// One [id, member, [text]] of `found`.
Result<void> add(const Json& triple, Answer& out) {
  if (!triple.is_array() || triple.size() != 3 || !triple[0].is_string() || !triple[2].is_array())
    return strange();
  bool is_deny = triple[1] == "deny";
  if (!is_deny && triple[1] != "needs_approval") return strange();
  auto& found = out[triple[0].get<std::string>()];
  for (const auto& text : triple[2]) {
    if (!text.is_string()) return strange();
    (is_deny ? found.deny : found.needs_approval).push_back(text.get<std::string>());
  }
  return {};
}

Failure wrong_shape(const Json& fault, const RuleSet& rules) {
  if (!fault.is_array() || fault.size() != 2 || !fault[0].is_string() || !fault[1].is_string())
    return strange();
  auto it = std::ranges::find_if(
      rules.rules, [&](const RuleFile& r) { return r.evaluates && r.rule == fault[0].get<std::string>(); });
  auto place = it == rules.rules.end() ? std::string("?") : fmt::format("{}:{}", it->file, it->line);
  return fail(Code::policy_unavailable,
              "{}: {} is not a set of strings (or is undefined); write {} contains \"reason\" if {{ … }}",
              place, fault[1].get<std::string>(), fault[1].get<std::string>());
}

}  // namespace

std::string aggregator_module(const RuleSet& rules) {
  auto out = fmt::format(kHead, kGatePackage);
  std::string expected;
  for (const auto& [id, member] : members(rules)) {
    auto name = dump_json(Json(id));
    auto value = fmt::format("data.admission[{}].{}", name, member);
    out += fmt::format(
        "\nsound contains [{0}, \"{1}\"] if strings({2})\n\nfound contains [{0}, \"{1}\", "
        "some_strings({2})]\n",
        name, member, value);
    expected += fmt::format("{}[{}, \"{}\"]", expected.empty() ? "" : ", ", name, member);
  }
  return out + fmt::format("\nexpected := {}\n", expected.empty() ? "set()" : "{" + expected + "}");
}

Result<Answer> read_answer(const Json& answer, const RuleSet& rules) {
  if (!answer.is_object()) return strange();
  auto faults = answer.find("faults"), found = answer.find("found");
  if (faults == answer.end() || !faults->is_array() || found == answer.end() || !found->is_array())
    return strange();
  if (!faults->empty()) return wrong_shape(faults->front(), rules);
  Answer out;
  for (const auto& triple : *found) TRY(add(triple, out));
  return out;
}

}  // namespace dash::policy
