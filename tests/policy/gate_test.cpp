#include "core/policy/gate.hpp"

#include <gtest/gtest.h>

#include "core/policy/decision_log.hpp"
#include "core/policy/engine.hpp"
#include "core/policy/refusal.hpp"
#include "tests/policy/gate_fixture.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/policy_folder.hpp"

namespace dash::policy {
namespace {

TEST_F(PolicyGate, IsOffByDefaultAndNeedsNoEngineThen) {
  auto none = folder_.engine("/no/such/engine");
  EngineGate gate(settings_, *none, log_);
  EXPECT_FALSE(must(gate.evaluate("cloud1:vm:deploy", kDeploy, kAlice, kFriday)).gated);
  set({{"admission_control_enabled", "true"}});  // blank list: inert even when enabled
  EXPECT_FALSE(must(gate.evaluate("cloud1:vm:deploy", kDeploy, kAlice, kFriday)).gated);
  enable("k8s:provision");
  EXPECT_FALSE(must(gate.evaluate("cloud1:vm:deploy", kDeploy, kAlice, kFriday)).gated);
}

TEST_F(PolicyGate, ClosesWithoutAnEngineForAGatedActionOnly) {
  enable();
  auto none = folder_.engine("/no/such/engine");
  EngineGate gate(settings_, *none, log_);
  auto decision = must(gate.evaluate("cloud1:vm:deploy", kDeploy, kAlice, kFriday));
  EXPECT_EQ(decision.verdict, Verdict::deny);
  EXPECT_EQ(decision.reasons,
            (std::vector<std::string>{"Action blocked: policy engine unavailable (fail-closed)."}));
  ASSERT_TRUE(decision.cause);
  EXPECT_NE(decision.cause->find("/no/such/engine"), std::string::npos);
  EXPECT_EQ(denied(decision).code, Code::policy_unavailable);
  EXPECT_EQ(info(denied(decision).code).http_status, 403);
}

TEST_F(PolicyGate, AdmitsAnythingWhileTheLimitsAreBlank) {
  enable();
  EXPECT_EQ(judge().verdict, Verdict::allow);
  EXPECT_EQ(judge("cloud1:vm:deploy", kDeploy, kSaturday).verdict, Verdict::allow);
}

TEST_F(PolicyGate, DeniesARegionOffTheListAndNamesBoth) {
  enable();
  for (auto list : {"us-east-1, us-west-2", R"(["us-east-1","us-west-2"])"}) {
    set({{"admission_allowed_regions", list}});
    auto decision = judge();
    EXPECT_EQ(decision.verdict, Verdict::deny);
    EXPECT_EQ(decision.reasons,
              (std::vector<std::string>{
                  R"(region "eu-west-1" is not in the allowed list ["us-east-1", "us-west-2"])"}));
    ASSERT_EQ(decision.rules.size(), 1u);
    EXPECT_EQ(decision.rules[0].id, "allowed_regions");
    EXPECT_GT(decision.rules[0].line, 0);
    auto body = *denied(decision).body;
    EXPECT_EQ(dump_json(body), dump_json(OrderedJson{{"error", "policy"}, {"reasons", decision.reasons}}));
  }
  EXPECT_EQ(judge("cloud1:vm:destroy", {{"region", "eu-west-1"}, {"name", "i-1"}}).verdict, Verdict::allow);
}

TEST_F(PolicyGate, ReadsSettingsLive) {
  enable();
  set({{"admission_denied_instance_types", "T3.Medium"}});
  EXPECT_EQ(judge().reasons, (std::vector<std::string>{R"(instance type "t3.medium" is blocked by policy)"}));
  set({{"admission_denied_instance_types", ""}});
  EXPECT_EQ(judge().verdict, Verdict::allow);
  set({{"admission_control_enabled", "off"}});
  EXPECT_FALSE(judge().gated);
}

TEST_F(PolicyGate, FoldsRegionsAndWeekdaysAndQuotesWhatWasTyped) {
  enable();
  set({{"admission_allowed_regions", "East US, US-East-1"}, {"admission_prod_window", " Sat ,SUN"}});
  EXPECT_EQ(judge("cloud1:vm:deploy", {{"region", " eastus "}}).verdict, Verdict::allow);
  EXPECT_EQ(judge("cloud1:vm:deploy", {{"region", "us-east-1a"}}).verdict, Verdict::allow);
  auto decision = judge("cloud1:vm:deploy", {{"region", "West US"}}, kSaturday);
  EXPECT_EQ(decision.reasons,
            (std::vector<std::string>{
                R"(region "West US" is not in the allowed list ["East US", "US-East-1"])",
                R"(cloud1:vm:deploy is frozen on sat (change-freeze window ["Sat", "SUN"]))"}));
}

TEST_F(PolicyGate, FreezesTeardownsToo) {
  enable();
  set({{"admission_prod_window", "sat"},
       {"admission_allowed_regions", "us-east-1"},
       {"admission_denied_instance_types", "t3.medium"}});
  EXPECT_EQ(judge("cloud1:vm:destroy", {{"region", "eu-west-1"}}, kSaturday).verdict, Verdict::deny);
  EXPECT_EQ(judge("cloud1:vm:destroy", {{"region", "eu-west-1"}}, kFriday).verdict, Verdict::allow);
}

TEST_F(PolicyGate, TakesEitherSpellingAndAnswersTheInstances) {
  enable("aws:ec2:deploy");
  folder_.rule("echo", "deny contains input.action");
  EXPECT_EQ(judge("aws:ec2:deploy").reasons, (std::vector<std::string>{"cloud1:vm:deploy"}));
  EXPECT_EQ(judge("cloud1:vm:deploy").action, "cloud1:vm:deploy");
  set({{"cloud_names", "provider"}});
  EXPECT_EQ(judge("cloud1:vm:deploy").reasons, (std::vector<std::string>{"aws:ec2:deploy"}));
}

TEST_F(PolicyGate, SeesTheSettingsOfAnotherConnectionInTheNextRequest) {
  enable("cloud1:vm:deploy");
  EXPECT_EQ(judge().verdict, Verdict::allow);
  auto elsewhere = must(db::open_sqlite(scratch_ / "dashctl.db"));
  config::EncryptedStore other(*elsewhere, clock_, config::derive_store_key(Secret("key"), {}));
  must(other.apply({{"admission_allowed_regions", "us-east-1"}}, {"bob", "test"}));
  EXPECT_EQ(judge().verdict, Verdict::deny);
}

TEST_F(PolicyGate, ClosesForASettingThatItsKeyDoesNotOpen) {
  enable("cloud1:vm:deploy");
  set({{"admission_allowed_regions", "us-east-1"}});
  config::EncryptedStore other(*sql_, clock_, config::derive_store_key(Secret("another key"), {}));
  config::Settings settings(other);
  EngineGate gate(settings, *engine_, log_);
  EXPECT_EQ(must(gate.evaluate("cloud1:vm:deploy", kDeploy, kAlice, kFriday)).verdict, Verdict::deny);
}

TEST_F(PolicyGate, ListsActionsForChangeWindowsWhetherOrNotItIsOn) {
  auto lists = [&](std::string_view action) { return must(live_settings(settings_))->lists(action); };
  EXPECT_FALSE(lists("cloud1:vm:deploy"));
  set({{"admission_gated_actions", "aws:ec2:deploy"}});
  EXPECT_TRUE(lists("cloud1:vm:deploy"));
  EXPECT_FALSE(lists("cloud2:vm:deploy"));
  set({{"admission_gated_actions", "[1]"}});
  EXPECT_TRUE(lists("cloud2:vm:deploy"));
  EXPECT_FALSE(judge().gated);
}

TEST_F(PolicyGate, RanksDenyAboveNeedsApprovalAndKeepsBothReasons) {
  enable();
  folder_.rule("ask", "needs_approval contains \"big\"");
  auto decision = judge();
  EXPECT_EQ(decision.verdict, Verdict::needs_approval);
  EXPECT_FALSE(decision.enforce_needs_approval);
  EXPECT_EQ(approval_not_expressible(decision).body->at("error"), "needs_approval");
  EXPECT_EQ(approval_not_expressible(decision).body->at("reasons").at(0), "big");
  EXPECT_EQ(audit_details(decision).at("reasons").dump(), R"(["big"])");
  set({{"admission_enforce_needs_approval", "yes"}});
  EXPECT_TRUE(judge().enforce_needs_approval);
  folder_.rule("no", "deny contains \"no\"");
  decision = judge();
  EXPECT_EQ(decision.verdict, Verdict::deny);
  EXPECT_EQ(decision.reasons, (std::vector<std::string>{"no"}));
  EXPECT_EQ(decision.approval_reasons, (std::vector<std::string>{"big"}));
}

TEST_F(PolicyGate, VoidsAnApprovalsDigestWhenRequestRulesOrLimitsChange) {
  enable();
  auto digest = [&](const Json& request = kDeploy) {
    return approval_digest(judge("cloud1:vm:deploy", request), request);
  };
  auto first = digest();
  EXPECT_EQ(digest(), first);
  EXPECT_NE(digest({{"region", "x"}}), first);
  set({{"admission_allowed_regions", "us-east-1"}});
  auto second = digest();
  EXPECT_NE(second, first);
  folder_.rule("r", "deny contains \"x\" if false");
  EXPECT_NE(digest(), second);
}

}  // namespace
}  // namespace dash::policy
