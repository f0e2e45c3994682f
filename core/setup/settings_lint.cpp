#include "core/setup/settings_lint.hpp"

#include <algorithm>

#include "core/policy/settings.hpp"

namespace dash::setup {

std::vector<config::LintFinding> lint_settings(const config::Values& values,
                                               const std::set<std::string>& unreadable) {
  auto findings = config::lint(values, unreadable);
  for (const auto& [key, value] : values) {
    if (std::ranges::count(findings, key, &config::LintFinding::key) > 0) continue;
    if (auto checked = policy::check_setting(key, value); !checked)
      findings.push_back({key, checked.error().message});
  }
  std::ranges::sort(findings, {}, &config::LintFinding::key);
  return findings;
}

}  // namespace dash::setup
