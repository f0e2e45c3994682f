#include "core/agent/remote/policy.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/agent/protocol/vectors.hpp"

namespace dash::agent {
namespace {

constexpr std::string_view kTargets = "targets: [{cidr: 10.0.0.0/24, ports: [22]}]\n";

Policy policy_of(std::string_view rest, std::string_view targets = kTargets) {
  return must(read_policy(std::string(targets) + std::string(rest), "policy.yaml"));
}

AutomationHost host_at(std::string address, int port = 22, std::string connection = "ssh") {
  return {"web1", std::move(address), port, "", std::move(connection)};
}

// What a deployed agent takes and this one does not: each of them would widen what the file seems to say.
const std::set<std::string> kStricter{"ports is one number, not a list: any port",
                                      "a target that is no mapping is skipped",
                                      "a key twice: the last one stands",
                                      "unknown keys are ignored",
                                      "a malformed block it does not know is ignored",
                                      "job_types is text: its letters",
                                      "a block that is no mapping is dropped",
                                      "limits that are no number fall back at use"};
// What is decided when a job comes, by the names that hold then.
const std::set<std::string> kLater{"fqdn that does not resolve leaves nothing",
                                   "a quoted false is taken for true"};

TEST(Policy, ReadsTheFilesOfDeployedAgentsAsTheyDoOrMoreStrictly) {
  std::size_t loaded = 0;
  for (const auto& entry : agent_behaviour()["policy_files"]) {
    auto name = entry["name"].get<std::string>();
    if (name == "UTF-16" || name == "UTF-8 with a byte order mark") continue;  // bytes, below
    auto read = read_policy(entry["yaml"].get<std::string>(), "policy.yaml");
    bool loads = entry["outcome"] == "loads";
    if (kStricter.contains(name)) {
      EXPECT_FALSE(read) << name;
    } else if (!kLater.contains(name)) {
      EXPECT_EQ(read.has_value(), loads) << name << (read ? "" : read.error().message);
    }
    if (!read || !loads) continue;
    ++loaded;
    EXPECT_EQ(read->hash, entry["digest_sha256_hex"].get<std::string>()) << name;
  }
  EXPECT_GE(loaded, 8u);
}

TEST(Policy, ReadsAByteOrderMark) { EXPECT_TRUE(read_policy("\xef\xbb\xbf" + std::string(kTargets), "p")); }

TEST(Policy, NamesFileAndLineOfAMistake) {
  auto error_of = [](std::string_view text) { return read_policy(text, "p.yaml").error(); };
  EXPECT_EQ(error_of(std::string(kTargets) + "storage: {enabled: \"yes\"}\n").code, Code::usage);
  EXPECT_TRUE(
      error_of(std::string(kTargets) + "storage:\n  enabled: 'true'\n").message.starts_with("p.yaml:3:"));
  EXPECT_TRUE(error_of(std::string(kTargets) + "storage: {enabled: true, shares: [{write: true}]}")
                  .message.starts_with("p.yaml:2: a share of the policy has no 'name'"));
  EXPECT_FALSE(read_policy(std::string(kTargets) + "storage: {shares: [{name: a}, {name: a}]}", "p"));
  EXPECT_FALSE(read_policy("targets: [{cidr: 10.0.0.0/24, fqdn: x}]", "p"));
}

TEST(Policy, RefusesStorageWithThreeTexts) {
  auto policy = policy_of("storage: {enabled: true, shares: [{name: lab, write: true}, {name: old}]}\n");
  EXPECT_TRUE(judge_share(policy, "lab", StorageOp::upload));
  EXPECT_TRUE(judge_share(policy, "old", StorageOp::fetch));
  EXPECT_NE(judge_share(policy, "old", StorageOp::remove).error().message.find("read-only"),
            std::string::npos);
  EXPECT_NE(judge_share(policy, "x", StorageOp::list).error().message.find("not named"), std::string::npos);
  auto without = policy_of("storage: {shares: [{name: lab}]}\n");
  EXPECT_NE(judge_share(without, "lab", StorageOp::list).error().message.find("not enabled"),
            std::string::npos);
  EXPECT_EQ(judge_share(policy, "x", StorageOp::list).error().code, Code::policy_denied);
}

TEST(Policy, GrantsNoJobTypeThatItDoesNotList) {
  EXPECT_FALSE(judge_job_type(policy_of(""), "agent_storage"));
  EXPECT_FALSE(judge_job_type(policy_of("job_types: []\n"), ""));
  EXPECT_TRUE(judge_job_type(policy_of("job_types: [agent_storage]\n"), "agent_storage"));
}

TEST(Policy, DecidesAddressAndPort) {
  auto policy = policy_of("deny: [10.0.0.128/25]\n");
  EXPECT_EQ(must(judge_host(policy, host_at("10.0.0.5"))), "10.0.0.5");
  EXPECT_FALSE(judge_host(policy, host_at("10.0.0.5", 2222)));
  EXPECT_FALSE(judge_host(policy, host_at("10.0.1.5")));
  EXPECT_FALSE(judge_host(policy, host_at("10.0.0.200")));
  EXPECT_TRUE(judge_host(policy_of("", "targets: [{cidr: 10.0.0.0/24}]\n"), host_at("10.0.0.5", 2222)));
  EXPECT_EQ(judge_host(policy, host_at("10.0.1.5")).error().code, Code::policy_denied);
}

TEST(Policy, DeniesTheOwnMachineUnlessItIsNamedLiterally) {
  auto wide = policy_of("", "targets: [{cidr: 0.0.0.0/0}, {cidr: '::/0'}, {fqdn: localhost}]\n");
  for (const auto* address : {"127.0.0.1", "127.9.9.9", "169.254.169.254", "::1", "fe80::1",
                              "::ffff:127.0.0.1", "0.0.0.0", "2130706433", "localhost"})
    EXPECT_FALSE(judge_host(wide, host_at(address))) << address;
  EXPECT_FALSE(judge_host(wide, host_at("localhost", 0, "local")));
  auto literal = policy_of("", "targets: [{cidr: 127.0.0.1, ports: [22]}]\n");
  EXPECT_TRUE(judge_host(literal, host_at("127.0.0.1")));
  EXPECT_TRUE(judge_host(literal, host_at("localhost", 0, "local")));
  EXPECT_FALSE(judge_host(literal, host_at("127.0.0.1", 23)));
  EXPECT_FALSE(judge_host(literal, host_at("127.0.0.2")));
  auto denied = policy_of("deny: [127.0.0.0/8]\n", "targets: [{cidr: 127.0.0.1/32}]\n");
  EXPECT_FALSE(judge_host(denied, host_at("127.0.0.1")));
}

TEST(Policy, BoundsTheHostsOfARun) {
  auto policy = policy_of("limits: {max_hosts: 2, max_concurrency: 3}\n");
  EXPECT_TRUE(judge_host_count(policy, 2));
  EXPECT_FALSE(judge_host_count(policy, 3));
  EXPECT_EQ(policy.max_concurrency, 3);
}

}  // namespace
}  // namespace dash::agent
