#include "core/policy/decision_log.hpp"

#include <gtest/gtest.h>

#include "core/policy/refusal.hpp"
#include "tests/policy/gate_fixture.hpp"

namespace dash::policy {
namespace {

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

}  // namespace
}  // namespace dash::policy
