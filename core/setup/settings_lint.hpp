// Finds faults of a stored configuration: those of config::lint, and values that the gate reads otherwise than
// they were meant, which an import stores all the same. Pure.
#pragma once
#include "core/config/lint.hpp"

namespace dash::setup {

// Returns the findings, sorted by key; one a key.
std::vector<config::LintFinding> lint_settings(const config::Values& values,
                                               const std::set<std::string>& unreadable);

}  // namespace dash::setup
