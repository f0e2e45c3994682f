// What the engine makes of rules and data.
#include "tests/support/opa_engine.hpp"

namespace dash::policy {
namespace {

TEST_F(OpaEngine, AdmitsWhatNoRuleDenies) {
  auto judged = must(engine_->evaluate(kDeploy));
  EXPECT_TRUE(judged.outcomes.empty());
  EXPECT_EQ(judged.rules->digest.size(), 64u);
}

TEST_F(OpaEngine, NamesTheRulesWithTheirReasonsInOrder) {
  folder_.rule("zeta", "deny contains \"z\"");
  folder_.rule("alpha",
               "deny contains reason if some reason in [\"b\", \"a\"]\nneeds_approval contains \"ask\"");
  auto answer = must(engine_->evaluate(kDeploy)).outcomes;
  ASSERT_EQ(answer.size(), 2u);
  EXPECT_EQ(answer.begin()->first, "alpha");
  EXPECT_EQ(answer.at("alpha").deny, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(answer.at("alpha").needs_approval, (std::vector<std::string>{"ask"}));
  EXPECT_EQ(answer.at("zeta").deny, (std::vector<std::string>{"z"}));
}

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

TEST_F(OpaEngine, ClosesForASyntaxErrorEvenInAFileThatDoesNotEvaluate) {
  folder_.put("a.rego", "package admission.b\ndeny contains if");
  EXPECT_EQ(cause(engine_->evaluate(kDeploy)).find("a.rego:2"), 0u);
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

TEST_F(OpaEngine, SharesHelpersAndDataFilesWithRules) {
  folder_.put("lib/days.rego", "package lib.days\nfrozen contains day if some day in data.frozen.days");
  folder_.put("frozen/days.json", R"({"days": ["fri"]})");
  folder_.rule("r", "import data.lib.days\n\ndeny contains \"frozen\" if input.now.weekday in days.frozen");
  EXPECT_TRUE(must(engine_->evaluate(kDeploy)).outcomes.contains("r"));
}

struct Shape {
  const char* name;
  const char* body;
};
class DenyShape : public testing::TestWithParam<Shape> {};

TEST_P(DenyShape, ClosesUnlessASetOfStrings) {
  PolicyFolder folder;
  folder.rule("odd", GetParam().body);
  auto engine = folder.engine();
  auto judged = engine->evaluate(kDeploy);
  ASSERT_FALSE(judged);
  EXPECT_EQ(judged.error().code, Code::policy_unavailable);
  EXPECT_NE(judged.error().message.find("odd.rego"), std::string::npos) << judged.error().message;
}

INSTANTIATE_TEST_SUITE_P(Policy, DenyShape,
                         testing::Values(Shape{"True", "deny := true"}, Shape{"String", "deny := \"no\""},
                                         Shape{"Array", "deny := [\"x\", \"y\"]"},
                                         Shape{"Object", "deny[\"k\"] := \"v\""},
                                         Shape{"Number", "deny contains 42"},
                                         Shape{"Function", "deny(x) := x"},
                                         Shape{"ObjectElement", "deny contains {\"msg\": \"m\"}"},
                                         Shape{"Undefined", "deny := \"x\" if input.nothing"},
                                         Shape{"DefaultFalse", "default deny := false"},
                                         Shape{"Approval", "needs_approval := true"}),
                         [](const auto& each) { return each.param.name; });

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

TEST_F(OpaEngine, ClosesForABuiltInThatFailsWhileItRuns) {
  folder_.rule("r", "deny contains \"x\" if to_number(input.request.name) > 3");
  auto judged = engine_->evaluate(kDeploy);
  ASSERT_FALSE(judged);
  EXPECT_EQ(judged.error().message.find("r.rego:3: to_number"), 0u) << judged.error().message;
}

TEST_F(OpaEngine, ClosesForConflictingValues) {
  folder_.rule("r", "a := 1 if input.action\na := 2 if input.action\ndeny contains \"x\" if a == 1");
  EXPECT_FALSE(engine_->evaluate(kDeploy));
}

TEST_F(OpaEngine, AnswersABatchOfOneGeneration) {
  folder_.rule("r", "deny contains input.action");
  std::vector<std::string> documents{R"({"action":"a"})", R"({"action":"b"})", kDeploy};
  auto judged = must(engine_->evaluate_all(documents));
  ASSERT_EQ(judged.size(), 3u);
  EXPECT_EQ(judged[1].outcomes.at("r").deny.front(), "b");
  EXPECT_EQ(judged[2].outcomes.at("r").deny.front(), "cloud1:vm:deploy");
}

}  // namespace
}  // namespace dash::policy
