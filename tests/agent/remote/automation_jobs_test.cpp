#include "core/agent/remote/automation_jobs.hpp"

#include <gtest/gtest.h>

#include "core/storage/store/digest.hpp"
#include "tests/support/agent_http.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/scratch.hpp"

namespace dash::agent {
namespace {

std::string digest_of(std::string_view text) {
  storage::PartDigests whole;
  whole.add(crypto::sha256(text));
  return whole.finish();
}

class RemoteRuns : public ::testing::Test {
 protected:
  RemoteRuns() {
    settings_.state_folder = scratch_.path();
    policy_ = must(read_policy("targets: [{cidr: 10.0.0.0/24, ports: [22]}]\nlimits: {max_hosts: 1}\n", "p"));
    job_.asset = "site.yml";
    job_.type = "playbook";
    job_.asset_bytes = 5;
    job_.asset_digest = digest_of("hello");
    job_.hosts = {{"web1", "10.0.0.1", 22, "deploy", "ssh", "ssh-ed25519 AAAA", Json::object(), {}, true}};
  }
  Error error_of() {
    AutomationJobs jobs(
        settings_, policy_, dashboard_, [] { return false; }, "/proc/self/exe");
    return jobs.run({"j-1", "agent_automation", to_json(job_)}, context_).error();
  }
  Scratch scratch_;
  FakeClock clock_;
  Settings settings_;
  Policy policy_;
  AgentHttp http_;
  const Identity identity_ = test_identity();
  DashboardClient dashboard_{http_, clock_, identity_, {"https://dash.example", {}}};
  JobContext context_;
  AutomationJob job_;
};

TEST_F(RemoteRuns, AreJudgedBeforeAnythingIsFetched) {
  job_.hosts[0].address = "10.9.9.9";
  EXPECT_EQ(error_of().code, Code::policy_denied);
  job_.hosts[0].address = "127.0.0.1";
  EXPECT_EQ(error_of().code, Code::policy_denied);
  job_.hosts[0].address = "10.0.0.1";
  job_.hosts.push_back(job_.hosts[0]);
  job_.hosts[1].name = "web2";
  EXPECT_EQ(error_of().code, Code::policy_denied);
  job_.hosts.pop_back();
  settings_.is_audit = true;
  EXPECT_EQ(error_of().code, Code::policy_denied);
  EXPECT_TRUE(http_.sent.empty());
}

TEST_F(RemoteRuns, SendNothingToAHostWithoutAPinnedKey) {
  job_.hosts[0].host_key.clear();
  EXPECT_NE(error_of().message.find("no pinned key"), std::string::npos);
  EXPECT_TRUE(http_.sent.empty());
}

TEST_F(RemoteRuns, TakeTheirAssetByItsDigestAlone) {
  http_.answer("asset", 200, "hellO");
  EXPECT_NE(error_of().message.find("digest"), std::string::npos);
  http_.answer("asset", 200, "hell");
  EXPECT_NE(error_of().message.find("digest"), std::string::npos);
  http_.answer("asset", 200, "hello, and more");
  EXPECT_NE(error_of().message.find("more bytes"), std::string::npos);
  http_.answer("asset", 409, R"({"detail":"changed meanwhile"})");
  EXPECT_NE(error_of().message.find("changed meanwhile"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(scratch_ / "work"));
}

TEST_F(RemoteRuns, NameTheHostWhoseSecretIsNotReleased) {
  http_.answer("asset", 200, "hello");
  http_.answer("secret", 403, R"({"detail":"attested agents only"})");
  auto error = error_of();
  EXPECT_NE(error.message.find("web1"), std::string::npos);
  EXPECT_NE(error.message.find("attested agents only"), std::string::npos);
}

// Whatever a dashboard lets pass.
TEST_F(RemoteRuns, TakeNobodyElsesRightsOnTheAgentsMachine) {
  policy_ = must(read_policy("targets: [{cidr: 127.0.0.1/32}]\n", "p"));
  job_.hosts = {{"here", "127.0.0.1", 0, "", "local"}};
  auto error_with = [&](const std::string& playbook) {
    job_.asset_bytes = playbook.size();
    job_.asset_digest = digest_of(playbook);
    http_.answer("asset", 200, playbook);
    return error_of();
  };
  auto becomes = error_with("- hosts: all\n  become: true\n  tasks: []\n");
  EXPECT_EQ(becomes.code, Code::policy_denied);
  EXPECT_NE(becomes.message.find("another user's rights"), std::string::npos) << becomes.message;
  EXPECT_EQ(error_with("- hosts: all\n  roles: [unseen]\n").code, Code::policy_denied);
  EXPECT_EQ(error_with("- hosts: [\n").code, Code::policy_denied);
  job_.extra_vars = {{"ansible_become", true}};
  EXPECT_EQ(error_with("- hosts: all\n  tasks: []\n").code, Code::policy_denied);
  job_.extra_vars = Json::object();
  job_.asset = "tool.deb", job_.type = "deb";
  EXPECT_EQ(error_with("hello").code, Code::policy_denied);
}

TEST_F(RemoteRuns, RefuseVariablesByWhichAnsibleWouldConnectElsewhere) {
  job_.extra_vars = {{"ansible_host", "10.9.9.9"}};
  EXPECT_FALSE(error_of().message.empty());
  job_.extra_vars = Json::object();
  job_.hosts[0].variables = {{"ansible_ssh_common_args", "-o ProxyCommand=x"}};
  EXPECT_FALSE(error_of().message.empty());
  EXPECT_TRUE(http_.sent.empty());
}

}  // namespace
}  // namespace dash::agent
