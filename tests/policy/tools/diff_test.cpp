#include "core/policy/tools/diff.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/policy_folder.hpp"

namespace dash::policy {
namespace {

TEST(PolicyDiffOf, TellsEveryVerdictThatChangesOverDomainAndRecords) {
  PolicyFolder before, after;
  before.rule("r", "deny contains \"old\" if input.request.region == \"mars-1\"");
  after.rule("r",
             "deny contains \"new\" if input.request.region == \"mars-1\"\ndeny contains \"late\" if "
             "input.request.name == \"db-recorded\"");
  auto old_engine = before.engine(), new_engine = after.engine();
  DecisionRecord record;
  record.action = "cloud1:vm:deploy";
  record.username = "alice";
  record.input = parse_json(R"({"action":"cloud1:vm:deploy",
    "actor":{"username":"alice","is_admin":false},"request":{"region":"us-east-1","name":"db-recorded"},
    "limits":{"allowed_regions":[],"denied_instance_types":[],"prod_window":[]},"now":{"iso":"x","weekday":"fri","hour":1}})")
                     .value();
  auto diff = must(diff_policies(*old_engine, *new_engine, {record, record}, {}));
  EXPECT_EQ(diff.recorded, 1u);
  auto recorded = std::ranges::find_if(diff.changes, &VerdictChange::is_recorded);
  ASSERT_NE(recorded, diff.changes.end());
  EXPECT_EQ(recorded->before.verdict, Verdict::allow);
  EXPECT_EQ(recorded->after.reasons, (std::vector<std::string>{"late"}));
  EXPECT_TRUE(std::ranges::any_of(diff.changes, [](const VerdictChange& c) {
    return !c.is_recorded && c.before.reasons == std::vector<std::string>{"old"} &&
           c.after.reasons == std::vector<std::string>{"new"};
  }));
  EXPECT_TRUE(must(diff_policies(*old_engine, *old_engine, {record}, {})).changes.empty());
}

TEST(PolicyDiffOf, CountsABrokenRuleAsARefusal) {
  PolicyFolder before, after;
  before.rule("r", "deny contains \"x\" if input.request.name == \"7up\"");
  after.rule("r", "deny contains \"x\" if to_number(input.request.name) == 7");
  auto old_engine = before.engine(), new_engine = after.engine();
  auto diff = must(diff_policies(*old_engine, *new_engine, {}, {}));
  ASSERT_FALSE(diff.changes.empty());
  EXPECT_TRUE(diff.changes.front().after.cause);
}

}  // namespace
}  // namespace dash::policy
