#include "core/setup/settings_lint.hpp"

#include <gtest/gtest.h>

namespace dash::setup {
namespace {

TEST(LintSettings, FindsWhatTheGateWouldReadOtherwiseThanMeant) {
  auto found = lint_settings({{"admission_gated_actions", "cloud1:vm:deploi"},
                              {"admission_prod_window", "someday"},
                              {"cloud1_region", "us-east-1"}},
                             {});
  ASSERT_GE(found.size(), 2u);
  EXPECT_EQ(found[0].key, "admission_gated_actions");
  EXPECT_EQ(found[1].key, "admission_prod_window");
  for (const auto& finding : found) EXPECT_NE(finding.key, "cloud1_region");
}

TEST(LintSettings, TellsAKeyOnceAndAnUnreadableOneAsThat) {
  auto found = lint_settings({{"admission_allowed_regions", "[\"us"}, {"admission_prod_window", "x"}},
                             {"admission_prod_window"});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NE(found[1].problem.find("another key"), std::string::npos);
}

TEST(LintSettings, FindsNothingInWhatTheGateTakes) {
  EXPECT_TRUE(lint_settings({{"admission_gated_actions", "aws:ec2:deploy, k8s:provision"},
                             {"admission_prod_window", "[\"sat\"]"},
                             {"admission_allowed_regions", ""}},
                            {})
                  .empty());
}

}  // namespace
}  // namespace dash::setup
