// The rules that settings obey, for every caller: one list, each rule with the keys that it watches. A rule
// checks the values as they will be. It runs only when the change gives a watched key another value, so that
// an old stored value does not block an unrelated change. Pure.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/config/clouds.hpp"
#include "core/config/encrypted_store.hpp"
#include "core/storage/store/local/root_rules.hpp"

namespace dash::setup {

struct RuleInput {
  const config::Values& before;
  const config::Values& after;
  const config::Changes& changes;  // canonical; region sets whole

  bool changes_key(const std::string& key) const;  // to another value
  config::NameStyle name_style() const;
};

// Why a change is refused. An import leaves `keys` out and writes the rest.
struct Refusal {
  std::vector<std::string> keys;  // of the change
  std::string reason;             // the word in an import's `refused`
  Error error;
};

using RuleResult = std::optional<Refusal>;

struct Rule {
  std::vector<std::string> keys;  // patterns: '*' stands for any text
  std::function<RuleResult(const RuleInput&)> check;
  // Runs after the check of the infrastructure state: where both refuse, the state is the reason.
  bool is_last = false;
};

// Makes a rule over each watched value on its own. Blank and removed values pass.
Rule value_rule(std::vector<std::string> keys, std::string reason,
                std::function<Result<void>(const std::string& key, const std::string& value)> check);

bool matches(std::string_view pattern, std::string_view key);
// Returns the entries of a map by key whose keys match a pattern, sorted. A pattern's head finds them, so that
// a change of many keys is not searched for each pattern.
template <class Map>
std::vector<const typename Map::value_type*> matching(const std::vector<std::string>& patterns,
                                                      const Map& map) {
  std::map<std::string_view, const typename Map::value_type*> out;
  for (const auto& pattern : patterns) {
    auto head = pattern.substr(0, pattern.find('*'));
    for (auto it = map.lower_bound(head); it != map.end() && it->first.starts_with(head); ++it)
      if (matches(pattern, it->first)) out.emplace(it->first, &*it);
  }
  std::vector<const typename Map::value_type*> sorted;
  for (const auto& [key, entry] : out) sorted.push_back(entry);
  return sorted;
}
bool concerns(const std::vector<std::string>& patterns, const RuleInput& input);
config::Values with_changes(config::Values values, const config::Changes& changes);

// Returns every rule but the one about live state (live_state.hpp), in the order of evaluation. `roots` must
// outlive them.
std::vector<Rule> settings_rules(const storage::local::RootRules& roots);
// Returns the first refusal of the rules that are last, or of those that are not.
RuleResult first_refusal(const std::vector<Rule>& rules, const RuleInput& input, bool is_last);

}  // namespace dash::setup
