#include "core/policy/settings.hpp"

#include <gtest/gtest.h>

#include "core/policy/refusal.hpp"
#include "tests/policy/gate_fixture.hpp"

namespace dash::policy {
namespace {

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

TEST_P(UnparsableSetting, IsRefusedWhenItIsWritten) {
  auto checked = check_setting(GetParam().key, GetParam().value);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, Code::invalid);
  EXPECT_TRUE(check_setting(GetParam().key, " "));
  EXPECT_TRUE(check_setting("another_key", GetParam().value));
}

INSTANTIATE_TEST_SUITE_P(Policy, UnparsableSetting,
                         testing::Values(Nonsense{"admission_allowed_regions", "[us-east-1]"},
                                         Nonsense{"admission_gated_actions", "[\"a\""},
                                         Nonsense{"admission_denied_instance_types", "[1]"},
                                         Nonsense{"admission_prod_window", "caturday"},
                                         Nonsense{"admission_prod_window", "{\"sat\":1}"},
                                         Nonsense{"admission_control_enabled", "maybe"},
                                         Nonsense{"admission_enforce_needs_approval", "perhaps"}));

}  // namespace
}  // namespace dash::policy
