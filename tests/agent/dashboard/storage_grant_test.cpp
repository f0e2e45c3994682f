#include "core/agent/dashboard/storage_grant.hpp"

#include <gtest/gtest.h>

#include "tests/support/agent_world.hpp"

namespace dash::agent {
namespace {

struct StorageGrant : testing::Test {
  AgentWorld world;
  AgentReplica replica{world};
  storage::agent::ShareSettings share{"a1", "lab", "web", false};

  // "" when it is granted.
  std::string refusal() {
    auto granted = check_storage_grant(replica.jobs.deps(), share);
    if (granted) return "";
    EXPECT_EQ(granted.error().code, Code::upstream);
    return granted.error().message;
  }
  testing::AssertionResult refuses(std::string_view words) {
    auto message = refusal();
    if (message.find(words) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << '"' << message << '"';
  }
};

TEST_F(StorageGrant, PassesAnAgentThatMay) {
  auto id = world.add_agent("a1").id;
  EXPECT_EQ(refusal(), "");
  share.agent = id;
  share.subpath = "x\\y/";
  EXPECT_EQ(must(check_storage_grant(replica.jobs.deps(), share)).settings.subpath, "x/y");
}

// Each step mends what the one before it found, so that the order shows too.
TEST_F(StorageGrant, RefusesInThisOrderByName) {
  world.set("remote_agents_enabled", "false");
  share = {"", "", "/abs", true};
  EXPECT_TRUE(refuses("storage_agent_id"));
  share.agent = "a1";
  EXPECT_TRUE(refuses("set storage_agent_share"));
  share.share = "../lab";
  EXPECT_TRUE(refuses("../lab"));
  share.share = "lab";
  EXPECT_TRUE(refuses("/abs"));
  share.subpath = "a/../../b";
  EXPECT_TRUE(refuses("a/../../b"));
  share.subpath = "web";
  EXPECT_TRUE(refuses("remote_agents_enabled"));
  world.set("remote_agents_enabled", "true");
  EXPECT_TRUE(refuses("'a1' is not known"));
  auto id = world.add_agent("a1", {}, "two").id;
  world.change(id, "revoked_at", to_micros(world.clock.now()));
  EXPECT_TRUE(refuses("revoked"));
  world.change(id, "revoked_at", nullptr);
  world.change(id, "public_key", std::string());
  EXPECT_TRUE(refuses("enrol"));
  world.change(id, "public_key", std::string("key"));
  world.clock.advance(std::chrono::seconds(91));
  EXPECT_TRUE(refuses("offline"));
  world.change(id, "last_seen_at", to_micros(world.clock.now()));
  EXPECT_TRUE(refuses("agent_storage"));
  world.change(id, "allowed_job_types", std::string(R"(["agent_storage"])"));
  EXPECT_TRUE(refuses("'two'"));
  world.change(id, "agent_version", std::string());
  EXPECT_TRUE(refuses("reports no version"));
  world.change(id, "agent_version", std::string("2.4.9"));
  EXPECT_TRUE(refuses("2.5.0 or later"));
  world.change(id, "agent_version", std::string("2.6.9"));
  EXPECT_TRUE(refuses("2.7"));
  EXPECT_TRUE(refuses("nothing was queued"));
  share.has_password = false;
  EXPECT_EQ(refusal(), "");
  world.change(id, "agent_version", std::string("2.10.0"));
  share.has_password = true;
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(world.jobs_made(), 0);
}

TEST_F(StorageGrant, HoldsForNinetySeconds) {
  world.add_agent("a1");
  world.clock.advance(std::chrono::seconds(90));
  EXPECT_EQ(refusal(), "");
  world.clock.advance(std::chrono::seconds(1));
  EXPECT_TRUE(refuses("offline"));
}

}  // namespace
}  // namespace dash::agent
