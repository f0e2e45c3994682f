// `policy lint`: finds everything that may be wrong with a policy directory and with the gate's settings
// before it matters. Each finding has a file and line, the consequence, and how to fix it.
#pragma once
#include "core/policy/engine.hpp"
#include "core/policy/settings.hpp"

namespace dash::policy {

// Codes: unreadable, empty, syntax, compile, reserved, name_mismatch, package_shape, package_misspelt,
// deny_misspelt, no_deny, never_denies, shape, field_misspelt, builtin_fails, evaluation, data_rule, setting,
// action_unknown. Code::policy_unavailable only when the engine itself is missing.
Result<std::vector<Problem>> lint_policies(const EngineOptions& options, const GateSettings& settings);
// Checks the settings alone: unparsable ones, actions that nothing gates.
std::vector<Problem> lint_settings(const GateSettings& settings);

// Finds names close to what the gate reads, and denials that are no set of strings, as far as the text shows
// it (lint_shape.cpp).
std::vector<Problem> lint_heads(const RuleSet& rules, const Snapshot& snapshot);
// Finds what only evaluation shows (lint_run.cpp): failing built-ins, wrong shapes, rules that can never
// deny.
std::vector<Problem> lint_runs(Engine& engine, const RuleSet& rules, const Limits& limits);

}  // namespace dash::policy
