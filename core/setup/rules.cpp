#include "core/setup/rules.hpp"

#include <algorithm>

#include "core/automation/target_limits.hpp"
#include "core/base/text.hpp"
#include "core/config/number_limits.hpp"
#include "core/jobs/plan.hpp"
#include "core/setup/storage_rules.hpp"
#include "core/storage/store/backends.hpp"

namespace dash::setup {

bool RuleInput::changes_key(const std::string& key) const {
  auto change = changes.find(key);
  if (change == changes.end()) return false;
  auto known = before.find(key);
  if (known == before.end()) return change->second.has_value();
  return !change->second || *change->second != known->second;
}

config::NameStyle RuleInput::name_style() const { return storage::name_style_of(before); }

bool matches(std::string_view pattern, std::string_view key) {
  auto star = pattern.find('*');
  if (star == pattern.npos) return pattern == key;
  auto head = pattern.substr(0, star);
  auto tail = pattern.substr(star + 1);
  return key.size() >= head.size() + tail.size() && key.starts_with(head) && key.ends_with(tail);
}

bool concerns(const std::vector<std::string>& patterns, const RuleInput& input) {
  return std::ranges::any_of(matching(patterns, input.changes),
                             [&](const auto* change) { return input.changes_key(change->first); });
}

// One walk over both, which are sorted.
config::Values with_changes(config::Values values, const config::Changes& changes) {
  auto at = values.begin();
  for (const auto& [key, value] : changes) {
    while (at != values.end() && at->first < key) ++at;
    bool is_known = at != values.end() && at->first == key;
    if (value && is_known)
      at->second = *value;
    else if (value)
      values.emplace_hint(at, key, *value);
    else if (is_known)
      at = values.erase(at);
  }
  return values;
}

Rule value_rule(std::vector<std::string> keys, std::string reason,
                std::function<Result<void>(const std::string&, const std::string&)> check) {
  auto watched = keys;
  auto first_wrong = [watched, reason, check](const RuleInput& input) -> RuleResult {
    for (const auto* change : matching(watched, input.changes)) {
      const auto& [key, value] = *change;
      if (!value || trim(*value).empty() || !input.changes_key(key)) continue;
      if (auto checked = check(key, *value); !checked) return Refusal{{key}, reason, checked.error()};
    }
    return std::nullopt;
  };
  return {std::move(keys), first_wrong};
}

std::vector<Rule> settings_rules(const storage::local::RootRules& roots) {
  auto rules = storage_rules(roots);
  rules.push_back(
      value_rule({std::string(automation::kTargetsKey)}, "invalid_value", automation::check_targets));
  rules.push_back(
      value_rule({std::string(automation::kMaxTargetsKey)}, "invalid_value", automation::check_max_targets));
  std::vector<std::string> numbers;
  for (const auto& limits : config::number_limits())
    if (!limits.is_shared) numbers.emplace_back(limits.key);
  rules.push_back(value_rule(std::move(numbers), "invalid_value", config::check_number));
  rules.push_back(
      value_rule({std::string(jobs::kPlanApprovalKey)}, "invalid_value", jobs::check_plan_approval));
  return rules;
}

RuleResult first_refusal(const std::vector<Rule>& rules, const RuleInput& input, bool is_last) {
  for (const auto& rule : rules) {
    if (rule.is_last != is_last || !concerns(rule.keys, input)) continue;
    if (auto refusal = rule.check(input)) return refusal;
  }
  return std::nullopt;
}

}  // namespace dash::setup
