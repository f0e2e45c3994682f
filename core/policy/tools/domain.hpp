// Input documents to try rules on when the user has none: the ten actions at every weekday, with and without
// limits, as user and admin, and with each string of the rules in each place where it may matter. lint and
// diff use them.
#pragma once
#include <set>

#include "core/policy/rule_set.hpp"
#include "core/policy/settings.hpp"

namespace dash::policy {

// Documents; beyond that the variants of later words are left out.
inline constexpr std::size_t kMaxDomain = 30'000;

// Returns the strings of the rules, without those of the language (sprintf formats and the like stay: they do
// no harm).
std::set<std::string> literals(const RuleSet& rules);

// Returns JSON texts of input documents. `limits` (may be blank) are tried besides built-in samples.
std::vector<std::string> sample_documents(const Limits& limits, const std::set<std::string>& words);

}  // namespace dash::policy
