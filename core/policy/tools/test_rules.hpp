// `policy test`: the unit tests of a policy directory (x_test.rego, in the policy language), with those of
// the built-in rules that the directory does not replace.
#pragma once
#include "core/policy/engine.hpp"

namespace dash::policy {

struct RuleTestResult {
  std::string file, name;
  int row = 0;
  bool passed = false;
  std::string error;  // a test that could not run
};
struct RuleTestResults {
  std::vector<RuleTestResult> tests;  // ascending by file and row
  std::size_t failed = 0;
};

// Code::policy_unavailable for a missing engine or rules that do not compile, naming the place.
Result<RuleTestResults> run_rule_tests(const EngineOptions& options);
// {"passed", "failed", "tests": [{"file", "row", "name", "passed", "error"}]}
OrderedJson to_json(const RuleTestResults& tests);

}  // namespace dash::policy
