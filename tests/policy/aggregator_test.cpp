#include "core/policy/aggregator.hpp"

#include "tests/support/opa_engine.hpp"

namespace dash::policy {
namespace {

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

}  // namespace
}  // namespace dash::policy
