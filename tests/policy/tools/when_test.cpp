#include "core/policy/tools/when.hpp"

#include <gtest/gtest.h>

#include "tests/support/policy_folder.hpp"

namespace dash::policy {
namespace {

GateSettings settings(config::Values values = {}) {
  values.emplace("admission_control_enabled", "true");
  return settings_of(values);
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

}  // namespace
}  // namespace dash::policy
