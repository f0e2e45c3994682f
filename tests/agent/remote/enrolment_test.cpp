#include "core/agent/remote/enrolment.hpp"

#include <gtest/gtest.h>

#include "core/base/file.hpp"
#include "tests/support/agent_http.hpp"
#include "tests/support/scratch.hpp"

namespace dash::agent {
namespace {

class Enrolment : public ::testing::Test {
 protected:
  Enrolment() {
    settings_.url = "https://dash.example";
    settings_.state_folder = scratch_ / "state";
    settings_.policy_file = scratch_ / "policy.yaml";
    must(write_file(settings_.policy_file, "targets: [{cidr: 10.0.0.0/24}]\n", 0600));
    http_.answer("enroll", 200,
                 dump_json(OrderedJson{{"agent_id", "a-9"},
                                       {"audience", "https://aud"},
                                       {"dashboard_public_key", test_identity().dashboard_public_key}}));
  }
  Scratch scratch_;
  Settings settings_;
  AgentHttp http_;
};

TEST_F(Enrolment, IsOnTheDiskWhenItIsOver) {
  EXPECT_EQ(must(enrol_here(http_, settings_, Secret("c"))).agent_id, "a-9");
  EXPECT_EQ(must(load_identity(settings_.state_folder)).url, "https://dash.example");
  EXPECT_EQ(enrol_here(http_, settings_, Secret("c")).error().code, Code::conflict);
  EXPECT_EQ(http_.sent.size(), 1u);
}

TEST_F(Enrolment, SendsNothingBeforeThisMachineIsReady) {
  must(write_file(settings_.policy_file, "targets: []\n", 0600));
  EXPECT_EQ(enrol_here(http_, settings_, Secret("c")).error().code, Code::usage);
  settings_.url.clear();
  EXPECT_EQ(enrol_here(http_, settings_, Secret("c")).error().code, Code::usage);
  EXPECT_TRUE(http_.sent.empty());
}

TEST_F(Enrolment, HappensWhenARunHasACodeAndNoIdentity) {
  EXPECT_EQ(identity_or_enrol(http_, settings_).error().code, Code::usage);
  settings_.code = Secret("c");
  EXPECT_EQ(must(identity_or_enrol(http_, settings_)).agent_id, "a-9");
  EXPECT_EQ(must(identity_or_enrol(http_, settings_)).agent_id, "a-9");
  EXPECT_EQ(http_.sent.size(), 1u);
}

TEST_F(Enrolment, LetsAnAgentFindItsDashboardElsewhere) {
  auto identity = test_identity();
  Settings none;
  EXPECT_EQ(address_of(identity, none).error().code, Code::usage);
  identity.url = "https://first";
  identity.ca_bundle = "/ca.pem";
  EXPECT_EQ(must(address_of(identity, none)).url, "https://first");
  EXPECT_EQ(must(address_of(identity, none)).trust.ca_bundle, "/ca.pem");
  EXPECT_EQ(must(address_of(identity, settings_)).url, "https://dash.example");
  identity.url = "http://first";
  EXPECT_FALSE(address_of(identity, none));
}

}  // namespace
}  // namespace dash::agent
