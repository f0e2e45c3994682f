#include "core/policy/rule_set.hpp"

#include "tests/support/opa_engine.hpp"

namespace dash::policy {
namespace {

TEST_F(OpaEngine, ListsButNeverEvaluatesAFileWhoseNameDisagrees) {
  folder_.put("a.rego", "package admission.b\ndeny contains \"no\"");
  folder_.put("nested.rego", "package admission.team.nested\ndeny contains \"no\"");
  folder_.put("plain.rego", "package admission\ndeny contains \"no\"");
  folder_.put("typo.rego", "package admision.typo\ndeny contains \"no\"");
  folder_.put("library.rego", "package library.times\nfrozen(day) if day in {\"sat\"}");
  auto judged = must(engine_->evaluate(kDeploy));
  EXPECT_TRUE(judged.outcomes.empty());
  std::map<std::string, std::string> problems;
  for (const auto& p : judged.rules->problems) problems[p.file] = p.code;
  EXPECT_EQ(problems["a.rego"], "name_mismatch");
  EXPECT_EQ(problems["nested.rego"], "package_shape");
  EXPECT_EQ(problems["plain.rego"], "package_shape");
  EXPECT_EQ(problems["typo.rego"], "package_misspelt");
  EXPECT_FALSE(problems.contains("library.rego"));
}

TEST_F(OpaEngine, NeverTakesATestFileForARule) {
  folder_.put("x_test.rego", "package admission.x_test\ndeny contains \"no\"\ntest_x if true");
  auto judged = must(engine_->evaluate(kDeploy));
  EXPECT_TRUE(judged.outcomes.empty());
  for (const auto& rule : judged.rules->rules) EXPECT_NE(rule.file, "x_test.rego");
}

TEST_F(OpaEngine, LetsAFileOfTheSameNameReplaceABuiltInRule) {
  folder_.rule("prod_window", "deny contains \"mine\"");
  auto judged = must(engine_->evaluate(kDeploy));
  EXPECT_EQ(judged.outcomes.at("prod_window").deny, (std::vector<std::string>{"mine"}));
  folder_.put("prod_window.rego", "package admission.elsewhere\ndeny contains \"mine\"");
  EXPECT_EQ(must(engine_->evaluate(kDeploy)).rules->rules.size(), 4u);  // the built-in one is back
}

TEST_F(OpaEngine, ClosesForADataFileThatWouldBeTheOnlyRule) {
  folder_.put("z.json", R"({"admission": {"z": {"deny": ["a"]}}})");
  EXPECT_EQ(cause(engine_->evaluate(kDeploy)).find("z.json:1: a data file defines admission.z.deny"), 0u);
  folder_.put("z.json", R"({"admission": {"limits": {"hours": 3}}, "deny": ["a"]})");
  folder_.rule("r", "deny contains \"late\" if input.now.hour > data.admission.limits.hours");
  EXPECT_TRUE(must(engine_->evaluate(kDeploy)).outcomes.contains("r"));
}

TEST_F(OpaEngine, ClosesForADataFileThatOverlapsARule) {
  folder_.rule("r", "deny contains \"x\"");
  folder_.put("admission/r/data.json", R"({"deny": []})");
  EXPECT_FALSE(engine_->evaluate(kDeploy));
}

}  // namespace
}  // namespace dash::policy
