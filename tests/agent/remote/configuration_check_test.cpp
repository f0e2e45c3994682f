#include "core/agent/remote/configuration_check.hpp"

#include <gtest/gtest.h>

#include "core/base/file.hpp"
#include "tests/support/agent_http.hpp"
#include "tests/support/scratch.hpp"

namespace dash::agent {
namespace {

class AgentConfiguration : public ::testing::Test {
 protected:
  AgentConfiguration() {
    settings_.policy_file = scratch_ / "policy.yaml";
    settings_.shares_file = scratch_ / "shares.yaml";
    write("job_types: [agent_storage]\nstorage: {enabled: true, shares: [{name: lab, write: true}]}\n",
          "shares: [{name: lab, path: /srv/lab}]\n");
  }
  void write(const std::string& policy, const std::string& shares, unsigned mode = 0600) {
    must(write_file(settings_.policy_file, "targets: [{cidr: 10.0.0.0/24}]\n" + policy, 0644));
    must(write_file(settings_.shares_file, shares, mode));
  }
  bool warns_of(std::string_view text) {
    auto report = must(check_configuration(settings_, std::nullopt));
    return std::ranges::any_of(report.warnings, [&](const auto& w) { return w.find(text) != w.npos; });
  }
  Scratch scratch_;
  Settings settings_;
};

TEST_F(AgentConfiguration, IsShownWithoutPathsAndPasswords) {
  auto report = must(check_configuration(settings_, std::nullopt));
  EXPECT_TRUE(report.warnings.empty());
  auto json = dump_json(to_json(report, settings_));
  EXPECT_NE(json.find(R"("name":"lab","write":true,"configured":true)"), std::string::npos) << json;
  EXPECT_EQ(json.find("/srv"), std::string::npos);
  settings_.is_audit = true;
  EXPECT_NE(dump_json(to_json(report, settings_)).find(R"("write":false)"), std::string::npos);
}

TEST_F(AgentConfiguration, WarnsOfWhatDoesNotFitTogether) {
  write("job_types: [agent_hypervisor]\nstorage: {enabled: true, shares: [{name: old}]}\nsibling: {}\n",
        "shares: [{name: lab, path: '\\\\f\\s', username: u, password: plain-text}]\n", 0644);
  EXPECT_TRUE(warns_of("the share 'old', which the shares file lacks"));
  EXPECT_TRUE(warns_of("the share 'lab', which the policy does not name"));
  EXPECT_TRUE(warns_of("agent_hypervisor"));
  EXPECT_TRUE(warns_of("does not list agent_storage"));
  EXPECT_TRUE(warns_of("'sibling'"));
  EXPECT_TRUE(warns_of("every user of this machine can read it"));
}

TEST_F(AgentConfiguration, OpensSealedPasswordsWithTheAgentsKey) {
  auto sealed = seal_password(test_identity(), Secret("hunter2-hunter2"));
  write("", "shares: [{name: lab, path: '\\\\f\\s', username: u, password: \"" + sealed + "\"}]\n");
  EXPECT_TRUE(check_configuration(settings_, test_identity()));
  auto other = test_identity();
  other.key = crypto::ed25519_from_seed(Secret(std::string(32, 'o')));
  EXPECT_EQ(check_configuration(settings_, other).error().code, Code::usage);
}

}  // namespace
}  // namespace dash::agent
