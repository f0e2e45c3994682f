#include "core/policy/tools/lint.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/policy/tools/diff.hpp"
#include "core/policy/tools/test_rules.hpp"
#include "core/policy/tools/when.hpp"
#include "tests/support/policy_folder.hpp"

namespace dash::policy {
namespace {

GateSettings settings(config::Values values = {}) {
  values.emplace("admission_control_enabled", "true");
  return settings_of(values);
}

class PolicyLint : public testing::Test {
 protected:
  std::vector<Problem> lint(config::Values values = {}) {
    EngineOptions options;
    options.directory = folder_.path();
    options.binary = real_engine();
    return must(lint_policies(options, settings(std::move(values))));
  }
  // The one finding, as "code file:row".
  std::string finding(config::Values values = {}) {
    auto found = lint(std::move(values));
    if (found.size() != 1) {
      std::string all = fmt::format("{} findings:", found.size());
      for (const auto& p : found) all += fmt::format(" {} {}:{} {};", p.code, p.file, p.row, p.message);
      return all;
    }
    EXPECT_FALSE(found[0].fix.empty());
    EXPECT_FALSE(found[0].message.empty());
    return fmt::format("{} {}:{}", found[0].code, found[0].file, found[0].row);
  }
  void fine() { folder_.rule("fine", "deny contains \"no\" if input.request.region == \"mars\""); }
  PolicyFolder folder_;
};

TEST_F(PolicyLint, FindsNothingInGoodRules) {
  fine();
  for (const auto& file : builtin_files(/*with_tests=*/true))
    folder_.put(std::string(base_name(file.path)), file.text);
  EXPECT_TRUE(lint({{"admission_gated_actions", "aws:ec2:deploy, cloud4:compute:destroy"},
                    {"admission_prod_window", "Sat"}})
                  .empty());
}

TEST_F(PolicyLint, FindsAnEmptyFolder) { EXPECT_EQ(finding(), "empty :0"); }

TEST_F(PolicyLint, FindsAMissingFolder) {
  folder_.remove("");
  EXPECT_EQ(finding(), "unreadable :0");
}

struct Case {
  const char* name;
  const char* file;
  const char* text;
  const char* expected;
};
class PolicyLintOf : public PolicyLint, public testing::WithParamInterface<Case> {};

TEST_P(PolicyLintOf, NamesFileAndLine) {
  fine();
  folder_.put(GetParam().file, GetParam().text);
  EXPECT_EQ(finding(), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Policy, PolicyLintOf,
    testing::Values(
        Case{"Syntax", "x.rego", "package admission.x\n\ndeny contains if {", "syntax x.rego:3"},
        Case{"OldDialect", "x.rego", "package admission.x\n\ndeny[msg] { msg := \"m\" }", "syntax x.rego:3"},
        Case{"UnknownFunction", "x.rego", "package admission.x\n\ndeny contains \"a\" if nothing(1)",
             "compile x.rego:3"},
        Case{"Network", "x.rego",
             "package admission.x\n\ndeny contains \"a\" if http.send({\"method\": \"get\", \"url\": \"x\"})",
             "compile x.rego:3"},
        Case{"MisspeltPackage", "x.rego",
             "package admision.x\n\ndeny contains \"a\" if input.request.name == \"a\"",
             "package_misspelt x.rego:1"},
        Case{"PlainPackage", "x.rego",
             "package admission\n\ndeny contains \"a\" if input.request.name == \"a\"",
             "package_shape x.rego:1"},
        Case{"NestedPackage", "x.rego",
             "package admission.team.x\n\ndeny contains \"a\" if input.request.name == \"a\"",
             "package_shape x.rego:1"},
        Case{"NameMismatch", "x.rego",
             "# head\npackage admission.y\n\ndeny contains \"a\" if input.request.name == \"a\"",
             "name_mismatch x.rego:2"},
        Case{"MisspeltField", "x.rego",
             "package admission.x\n\ndeny contains \"a\" if input.request.regoin == \"a\"",
             "field_misspelt x.rego:3"},
        Case{"MisspeltTopField", "x.rego", "package admission.x\n\ndeny contains \"a\" if input.nwo.hour > 3",
             "field_misspelt x.rego:3"},
        Case{"MisspeltDeny", "x.rego",
             "package admission.x\n\ndeney contains \"a\" if input.request.name == \"a\"",
             "deny_misspelt x.rego:3"},
        Case{"MisspeltApproval", "x.rego",
             "package admission.x\n\nneed_approval contains \"a\" if input.request.name == \"a\"",
             "deny_misspelt x.rego:3"},
        Case{"NoDeny", "x.rego", "package admission.x\n\nweekend if input.now.weekday == \"sat\"",
             "no_deny x.rego:1"},
        Case{"DenyIsText", "x.rego", "package admission.x\n\ndeny := \"no\"", "shape x.rego:3"},
        Case{"DenyIsTrue", "x.rego", "package admission.x\n\ndeny if input.request.name == \"a\"",
             "shape x.rego:3"},
        Case{"DenyOfNumbers", "x.rego",
             "package admission.x\n\ndeny contains 42 if input.request.name == \"zzz\"", "shape x.rego:3"},
        Case{"DenyOfObjectsSometimes", "x.rego",
             "package admission.x\n\ndeny contains reason if {\n  input.request.name == \"rare\"\n  reason "
             ":= {\"msg\": \"m\"}\n}",
             "shape x.rego:3"},
        Case{"BuiltInFails", "x.rego",
             "package admission.x\n\ndeny contains \"a\" if to_number(input.request.name) > 3",
             "builtin_fails x.rego:3"},
        Case{"BuiltInFailsForOneWord", "x.rego",
             "package admission.x\n\ndeny contains \"a\" if {\n  input.request.name == \"rare\"\n  "
             "to_number(input.request.name) > 3\n}",
             "builtin_fails x.rego:5"},
        Case{"NeverOnAWeekday", "x.rego",
             "package admission.x\n\ndeny contains \"a\" if input.now.weekday == \"Sat\"",
             "never_denies x.rego:3"},
        Case{"NeverAtAnHour", "x.rego", "package admission.x\n\ndeny contains \"a\" if input.now.hour > 24",
             "never_denies x.rego:3"},
        Case{"NeverForAnAction", "x.rego",
             "package admission.x\n\ndeny contains \"a\" if input.action == \"cloud1:vm:deplyo\"",
             "never_denies x.rego:3"},
        Case{"NeverAtAll", "x.rego", "package admission.x\n\ndeny contains \"a\" if 1 == 2",
             "never_denies x.rego:3"},
        Case{"DataLikeARule", "x.json", "{\"admission\": {\"z\": {\"deny\": [\"a\"]}}}",
             "data_rule x.json:1"}),
    [](const auto& each) { return each.param.name; });

TEST_F(PolicyLint, TakesTheProvidersActionsForWhatTheyAre) {
  folder_.rule("x", "deny contains \"a\" if input.action == \"aws:ec2:deploy\"");
  EXPECT_TRUE(lint().empty());
}

TEST_F(PolicyLint, FindsUnknownActionsAndWeekdaysInSettings) {
  fine();
  EXPECT_EQ(finding({{"admission_gated_actions", "cloud1:vm:deplyo"}}), "action_unknown :0");
  EXPECT_EQ(finding({{"admission_prod_window", "caturday"}}), "setting :0");
  EXPECT_EQ(finding({{"admission_allowed_regions", "[us-east-1]"}}), "setting :0");
}

TEST_F(PolicyLint, SaysWhatWasProbablyMeant) {
  fine();
  folder_.rule("x", "deny contains \"a\" if input.request.regoin == \"a\"");
  EXPECT_NE(lint().front().fix.find("input.request.region?"), std::string::npos);
}

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

class PolicyWhen : public testing::Test {
 protected:
  NextAdmission ask(config::Values values, std::string_view from, Json request = {{"region", "us-east-1"}}) {
    return must(find_next_admission(*engine_, settings(std::move(values)), "cloud1:vm:deploy", request,
                                    {"alice", false}, parse_iso(from).value()));
  }
  std::string at(const NextAdmission& when) { return when.admitted ? format_iso(*when.admitted) : "never"; }
  PolicyFolder folder_;
  std::unique_ptr<Engine> engine_ = folder_.engine();
};

TEST_F(PolicyWhen, IsNowForWhatIsAdmitted) {
  EXPECT_EQ(at(ask({}, "2026-07-04T10:20:30Z")), "2026-07-04T10:20:30Z");
}

TEST_F(PolicyWhen, IsTheEndOfAFreeze) {
  EXPECT_EQ(at(ask({{"admission_prod_window", "sat,sun"}}, "2026-07-04T10:20:30Z")), "2026-07-06T00:00:00Z");
  folder_.rule("night", "deny contains \"night\" if input.now.hour < 6");
  EXPECT_EQ(at(ask({{"admission_prod_window", "sat,sun"}}, "2026-07-04T10:20:30Z")), "2026-07-06T06:00:00Z");
}

TEST_F(PolicyWhen, LooksAYearAhead) {
  folder_.rule("frozen", "deny contains \"frozen\" if input.now.iso < \"2027-06-01T12:00:00Z\"");
  EXPECT_EQ(at(ask({}, "2026-07-04T10:20:30Z")), "2027-06-01T12:00:00Z");
}

TEST_F(PolicyWhen, IsNeverForARegionOffTheList) {
  EXPECT_EQ(at(ask({{"admission_allowed_regions", "mars-1"}}, "2026-07-04T10:20:30Z")), "never");
}

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
