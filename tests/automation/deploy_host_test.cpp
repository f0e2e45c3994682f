#include "core/automation/deploy_host.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash::automation {
namespace {

TEST(DeployHost, TakesTheConnectionOutOfTheVariables) {
  Json variables = {{"ansible_port", 2222}, {"ansible_password", "a-long-password"}, {"greeting", "hi"}};
  EXPECT_EQ(must(take_connection(variables)), Json({{"port", 2222}, {"secret", "a-long-password"}}));
  EXPECT_EQ(variables, Json({{"greeting", "hi"}}));
  EXPECT_EQ(must(take_connection(variables)), Json::object());
}

TEST(DeployHost, RefusesASecretThatNoLogCouldHide) {
  Json variables = {{"ansible_ssh_pass", "short"}};
  EXPECT_FALSE(take_connection(variables));
  variables = {{"ansible_password", 123456789}};
  EXPECT_EQ(take_connection(variables).error().code, Code::invalid);
}

}  // namespace
}  // namespace dash::automation
