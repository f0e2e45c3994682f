#include "core/policy/input.hpp"

#include <gtest/gtest.h>

#include "tests/policy/gate_fixture.hpp"

namespace dash::policy {
namespace {

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

}  // namespace
}  // namespace dash::policy
