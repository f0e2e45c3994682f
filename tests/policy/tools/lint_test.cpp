#include "core/policy/tools/lint.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace dash::policy
