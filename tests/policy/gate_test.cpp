#include "core/policy/gate.hpp"

#include <gtest/gtest.h>

#include "core/policy/decision_log.hpp"
#include "core/policy/engine.hpp"
#include "core/policy/refusal.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/policy_folder.hpp"

namespace dash::policy {
namespace {

const Actor kAlice{"alice", false};
const Time kFriday = parse_iso("2026-07-03T14:00:00Z").value();
const Time kSaturday = parse_iso("2026-07-04T09:30:00Z").value();
const Json kDeploy{
    {"region", "eu-west-1"}, {"instance_type", "t3.medium"}, {"image", "ami-1"}, {"name", "web"}};

class PolicyGate : public testing::Test {
 protected:
  void set(config::Changes changes) { must(store_.apply(changes, {"root", "test"})); }
  void enable(const std::string& gated = "cloud1:vm:deploy, cloud1:vm:destroy") {
    set({{"admission_control_enabled", "true"}, {"admission_gated_actions", gated}});
  }
  Decision judge(std::string_view action = "cloud1:vm:deploy", const Json& request = kDeploy,
                 Time at = kFriday) {
    return must(gate_.evaluate(action, request, kAlice, at));
  }

  Scratch scratch_;
  FakeClock clock_;
  PolicyFolder folder_;
  std::unique_ptr<db::Sql> sql_ = scratch_database(scratch_);
  config::EncryptedStore store_{*sql_, clock_, config::derive_store_key(Secret("key"), {})};
  config::Settings settings_{store_};
  std::unique_ptr<Engine> engine_ = folder_.engine();
  DecisionLog log_{*sql_};
  EngineGate gate_{settings_, *engine_, log_};
};

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

struct Nonsense {
  const char* key;
  const char* value;
};
class UnparsableSetting : public PolicyGate, public testing::WithParamInterface<Nonsense> {};

TEST_P(UnparsableSetting, ClosesTheGateWhileItIsEnabled) {
  enable("cloud1:vm:deploy");
  set({{GetParam().key, GetParam().value}});
  auto decision = judge();
  EXPECT_TRUE(decision.gated);
  EXPECT_EQ(decision.verdict, Verdict::deny);
  ASSERT_TRUE(decision.cause);
  EXPECT_NE(decision.cause->find(GetParam().key), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Policy, UnparsableSetting,
                         testing::Values(Nonsense{"admission_allowed_regions", "[us-east-1]"},
                                         Nonsense{"admission_gated_actions", "[\"a\""},
                                         Nonsense{"admission_denied_instance_types", "[1]"},
                                         Nonsense{"admission_prod_window", "caturday"},
                                         Nonsense{"admission_prod_window", "{\"sat\":1}"},
                                         Nonsense{"admission_control_enabled", "maybe"},
                                         Nonsense{"admission_enforce_needs_approval", "perhaps"}));

TEST_P(UnparsableSetting, IsRefusedWhenItIsWritten) {
  auto checked = check_setting(GetParam().key, GetParam().value);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, Code::invalid);
  EXPECT_TRUE(check_setting(GetParam().key, " "));
  EXPECT_TRUE(check_setting("another_key", GetParam().value));
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

TEST_F(PolicyGate, GivesRulesTheDocumentOfTheSpec) {
  enable();
  set({{"admission_allowed_regions", "eu-west-1"}});
  auto document = judge().input;
  EXPECT_EQ(document,
            parse_json(R"({"action":"cloud1:vm:deploy","actor":{"username":"alice","is_admin":false},
    "request":{"region":"eu-west-1","instance_type":"t3.medium","image":"ami-1","name":"web"},
    "limits":{"allowed_regions":["eu-west-1"],"denied_instance_types":[],"prod_window":[]},
    "now":{"iso":"2026-07-03T14:00:00Z","weekday":"fri","hour":14}})")
                .value());
}

TEST_F(PolicyGate, RecordsDecisionsWithSecretsMasked) {
  enable();
  auto request = kDeploy;
  request["admin_password"] = "hunter2";
  judge("cloud1:vm:deploy", request);
  auto recorded = must(log_.recent(10));
  ASSERT_EQ(recorded.size(), 1u);
  EXPECT_EQ(recorded[0].username, "alice");
  EXPECT_EQ(recorded[0].at, kFriday);
  EXPECT_EQ(dump_json(recorded[0].input).find("hunter2"), std::string::npos);
  EXPECT_EQ(recorded[0].input.at("request").at("region"), "eu-west-1");
}

TEST_F(PolicyGate, RecordsUserRequestAndReasonsAlsoOfWhatIsNotEnforced) {
  enable();
  folder_.rule("ask", "needs_approval contains \"big\"");
  Actor actor{"alice", false, "request-7"};
  must(gate_.evaluate("cloud1:vm:deploy", kDeploy, actor, kFriday));
  must(gate_.dry_run("cloud1:vm:deploy", kDeploy, actor, kFriday));
  set({{"admission_enforce_needs_approval", "true"}});
  must(gate_.evaluate("cloud1:vm:deploy", kDeploy, actor, kFriday));
  auto decisions = must(log_.recent(10)), dry_runs = must(log_.recent(10, true));
  ASSERT_EQ(decisions.size(), 2u);
  ASSERT_EQ(dry_runs.size(), 1u);
  for (const auto& one : {decisions[0], decisions[1], dry_runs[0]}) {
    EXPECT_EQ(one.username, "alice");
    EXPECT_EQ(one.request_id, "request-7");
    EXPECT_EQ(one.verdict, Verdict::needs_approval);
    EXPECT_EQ(one.reasons, std::vector<std::string>{"big"});
    EXPECT_FALSE(one.input.at("actor").contains("request_id"));
  }
  EXPECT_TRUE(decisions[0].is_enforced);
  EXPECT_FALSE(decisions[1].is_enforced);
  EXPECT_FALSE(dry_runs[0].is_enforced);
  EXPECT_TRUE(dry_runs[0].is_dry_run);
}

TEST_F(PolicyGate, RecordsWhyItDenies) {
  enable();
  folder_.rule("no", "deny contains \"no\"");
  judge();
  EXPECT_EQ(must(log_.recent(1)).at(0).reasons, std::vector<std::string>{"no"});
  auto none = folder_.engine("/no/such/engine");
  EngineGate gate(settings_, *none, log_);
  must(gate.evaluate("cloud1:vm:deploy", kDeploy, kAlice, kFriday));
  EXPECT_EQ(must(log_.recent(1)).at(0).reasons,
            std::vector<std::string>{"Action blocked: policy engine unavailable (fail-closed)."});
}

// A dry run may be about any instant, and a booking about one in two years.
TEST_F(PolicyGate, KeepsTheNewestDecisionsWhateverInstantTheyAreAbout) {
  enable();
  auto decision = judge();
  auto flood = [&](Time at, bool is_dry_run, int count) {
    for (int i = 0; i < count; ++i) log_.record(decision, {"mallory"}, at, is_dry_run);
    must(log_.flush());
  };
  for (int round = 0; round < 3; ++round) flood(kFriday + std::chrono::years(9), true, 600);
  EXPECT_EQ(must(log_.recent(20'000, true)).size(), static_cast<std::size_t>(kMaxDryRuns));
  EXPECT_EQ(must(log_.recent(20'000)).size(), 1u);
  for (int round = 0; round < 4; ++round) flood(kFriday + std::chrono::years(2), false, 3'500);
  judge();
  auto recorded = must(log_.recent(20'000));
  EXPECT_EQ(recorded.size(), static_cast<std::size_t>(kMaxDecisions));
  EXPECT_EQ(recorded[0].username, "alice");
}

TEST_F(PolicyGate, LosesNoDecisionOnACleanEnd) {
  enable();
  auto decision = judge();
  {
    DecisionLog log(*sql_);
    for (int i = 0; i < 500; ++i) log.record(decision, kAlice, kFriday);
  }
  EXPECT_EQ(must(log_.recent(1000)).size(), 501u);
}

TEST_F(PolicyGate, KeepsTheLastTenThousandDecisions) {
  enable();
  auto decision = judge();
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 3'500; ++i)
      log_.record(decision, kAlice, kFriday + std::chrono::seconds(round * 3'500 + i));
    must(log_.flush());
  }
  EXPECT_EQ(must(log_.recent(20'000)).size(), static_cast<std::size_t>(kMaxDecisions));
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
