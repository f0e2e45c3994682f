#include "core/agent/protocol/automation_job.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash::agent {
namespace {

AutomationJob sample_job() {
  AutomationJob job;
  job.asset = "site.yml";
  job.type = "playbook";
  job.asset_bytes = 12;
  job.asset_digest = "p8:" + std::string(64, 'a');
  job.extra_vars = {{"release", 7}};
  job.hosts = {{"web1", "10.0.0.1", 22, "deploy", "ssh", "ssh-ed25519 AAAA", Json::object(), {"web"}, true}};
  return job;
}

TEST(AutomationJob, CrossesTheWireWhole) {
  auto job = sample_job();
  job.project = "shop";
  job.max_failures = 0;
  auto read = must(read_automation_job(to_json(job)));
  EXPECT_EQ(to_json(read), to_json(job));
  EXPECT_EQ(read.max_failures, 0);
  EXPECT_TRUE(read.hosts.at(0).has_secret);
}

TEST(AutomationJob, RefusesMembersThatItDoesNotKnow) {
  auto payload = to_json(sample_job());
  payload["become"] = false;
  EXPECT_NE(read_automation_job(payload).error().message.find("'become'"), std::string::npos);
  payload.erase("become");
  payload["hosts"][0]["path"] = "/";
  EXPECT_NE(read_automation_job(payload).error().message.find("'path'"), std::string::npos);
}

TEST(AutomationJob, RefusesWhatNoRunCouldBe) {
  auto refused = [](std::string_view member, Json value) {
    auto payload = to_json(sample_job());
    payload[std::string(member)] = std::move(value);
    return !read_automation_job(payload).has_value();
  };
  EXPECT_TRUE(refused("asset", "../site.yml"));
  EXPECT_TRUE(refused("asset", ".site.yml"));
  EXPECT_TRUE(refused("type", "binary"));
  EXPECT_TRUE(refused("asset_digest", "p8:xyz"));
  EXPECT_TRUE(refused("asset_bytes", -1));
  EXPECT_TRUE(refused("forks", 0));
  EXPECT_TRUE(refused("timeout_seconds", 0));
  EXPECT_TRUE(refused("hosts", Json::array()));
  EXPECT_TRUE(refused("extra_vars", "x"));
  auto twice = to_json(sample_job());
  twice["hosts"].push_back(twice["hosts"][0]);
  EXPECT_FALSE(read_automation_job(twice));
  auto no_port = to_json(sample_job());
  no_port["hosts"][0]["port"] = 0;
  EXPECT_FALSE(read_automation_job(no_port));
}

TEST(AutomationResult, CrossesTheWireWhole) {
  AutomationResult result{{{"web1", "failed", "no such file"}}, 2, {}, "exited"};
  auto read = must(read_automation_result(to_json(result)));
  EXPECT_EQ(to_json(read), to_json(result));
  EXPECT_FALSE(read.signal);
}

TEST(AutomationResult, BoundsWhatAnAgentSends) {
  auto json = to_json(AutomationResult{{{"web1", "ok", std::string(9000, 'x')}}, 0, {}, "exited"});
  EXPECT_EQ(must(read_automation_result(json)).hosts.at(0).error.size(), 2000u);
  json["hosts"][0]["outcome"] = "splendid";
  EXPECT_FALSE(read_automation_result(json));
}

}  // namespace
}  // namespace dash::agent
