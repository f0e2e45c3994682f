#include "core/policy/tools/test_rules.hpp"

#include <gtest/gtest.h>

#include "tests/support/policy_folder.hpp"

namespace dash::policy {
namespace {

TEST(PolicyTest, RunsTheTestsOfTheFolderAndOfTheBuiltInRules) {
  PolicyFolder folder;
  EngineOptions options;
  options.directory = folder.path();
  options.binary = real_engine();
  auto builtin = must(run_rule_tests(options));
  EXPECT_EQ(builtin.failed, 0u);
  EXPECT_GE(builtin.tests.size(), 20u);
  folder.rule("x", "deny contains \"a\" if input.action == \"b\"");
  folder.put("x_test.rego",
             "package admission.x_test\n\nimport data.admission.x\n\ntest_good if x.deny == {\"a\"} with "
             "input as {\"action\": \"b\"}\n"
             "test_bad if x.deny == {\"a\"} with input as {}\n");
  auto mixed = must(run_rule_tests(options));
  EXPECT_EQ(mixed.tests.size(), builtin.tests.size() + 2);
  EXPECT_EQ(mixed.failed, 1u);
  folder.rule("prod_window", "deny contains \"mine\" if false");  // its built-in tests are not mine
  EXPECT_LT(must(run_rule_tests(options)).tests.size(), mixed.tests.size());
}

}  // namespace
}  // namespace dash::policy
