// Finds faults of a stored configuration: values that their readers will refuse, names that look misspelt,
// rows that cannot be opened. Pure; `dashctl config lint` prints the result. It names keys, never values.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "core/config/encrypted_store.hpp"

namespace dash::config {

struct LintFinding {
  std::string key;
  std::string problem;  // what is wrong, and what to do
};

// Returns the findings, sorted by key.
std::vector<LintFinding> lint(const Values& values, const std::set<std::string>& unreadable);

}  // namespace dash::config
