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

TEST_F(OpaEngine, ClosesForASyntaxErrorEvenInAFileThatDoesNotEvaluate) {
  folder_.put("a.rego", "package admission.b\ndeny contains if");
  EXPECT_EQ(cause(engine_->evaluate(kDeploy)).find("a.rego:2"), 0u);
}

TEST_F(OpaEngine, SharesHelpersAndDataFilesWithRules) {
  folder_.put("lib/days.rego", "package lib.days\nfrozen contains day if some day in data.frozen.days");
  folder_.put("frozen/days.json", R"({"days": ["fri"]})");
  folder_.rule("r", "import data.lib.days\n\ndeny contains \"frozen\" if input.now.weekday in days.frozen");
  EXPECT_TRUE(must(engine_->evaluate(kDeploy)).outcomes.contains("r"));
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
