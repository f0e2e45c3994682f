// Requests that agents sign: which are admitted, and what a throttle counts.
#include "tests/contract/agents_suite.hpp"

namespace dash::agent {
namespace {

using namespace std::chrono_literals;

class AgentRequests : public AgentsContract {};

TEST_P(AgentRequests, ANonceCountsOnce) {
  auto agent = a_.enrolled("dc1");
  auto head = agent.signed_head("/api/agent/lease", "{}", a_.clock.now());
  auto admitted = must(a_.requests.admit(head));
  EXPECT_TRUE(a_.requests.accept(head, admitted, "{}"));
  EXPECT_EQ(a_.requests.accept(head, admitted, "{}").error().code, Code::unauthenticated);
}

TEST_P(AgentRequests, RefusesWhatWasSignedForAnotherBodyPathTimeOrAudience) {
  auto agent = a_.enrolled("dc1");
  auto now = a_.clock.now();
  auto head = agent.signed_head("/api/agent/lease", "{}", now);
  auto admitted = must(a_.requests.admit(head));
  EXPECT_EQ(a_.requests.accept(head, admitted, "{ }").error().code, Code::unauthenticated);
  auto elsewhere = head;
  elsewhere.path = "/api/agent/jobs/1/complete";
  EXPECT_EQ(a_.requests.accept(elsewhere, admitted, "{}").error().code, Code::unauthenticated);
  auto other = agent;
  other.audience = "https://other.example";
  EXPECT_EQ(a_.send(other).error().code, Code::unauthenticated);
  for (auto off : {-61s, 61s}) {
    auto stale = agent.signed_head("/api/agent/lease", "{}", now + off);
    EXPECT_EQ(a_.requests.admit(stale).error().code, Code::unauthenticated);
  }
  for (auto off : {-60s, 60s})
    EXPECT_TRUE(a_.requests.admit(agent.signed_head("/api/agent/lease", "{}", now + off)));
  EXPECT_EQ(a_.count("agent_nonces"), 0);
}

TEST_P(AgentRequests, DecidesByTheHeaderSectionAlone) {
  auto agent = a_.enrolled("dc1");
  auto head = agent.signed_head("/api/agent/lease", "{}", a_.clock.now());
  for (auto change : std::vector<std::function<void(SignedHead&)>>{
           [](SignedHead& h) { h.agent_id = "somebody"; }, [](SignedHead& h) { h.nonce = ""; },
           [](SignedHead& h) { h.nonce = std::string(65, 'n'); }, [](SignedHead& h) { h.nonce = "a\tb"; },
           [](SignedHead& h) { h.timestamp = "now"; }, [](SignedHead& h) { h.signature = ""; }}) {
    auto bad = head;
    change(bad);
    EXPECT_EQ(a_.requests.admit(bad).error().code, Code::unauthenticated);
  }
}

TEST_P(AgentRequests, TheThrottleCountsWhatWasSignedAndStoresNoNonceBeyondIt) {
  a_.set("agent_max_requests_per_minute", "3");
  auto agent = a_.enrolled("dc1");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(a_.send(agent));
  auto seen = a_.row("dc1").last_seen_at;
  a_.clock.advance(10s);
  auto refused = a_.send(agent);
  EXPECT_EQ(refused.error().code, Code::throttled);
  EXPECT_EQ(refused.error().retry_after, 50s);
  EXPECT_EQ(a_.count("agent_nonces"), 3);
  EXPECT_EQ(a_.row("dc1").last_seen_at, seen);
  a_.clock.advance(51s);
  EXPECT_TRUE(a_.send(agent));
  a_.set("agent_throttle_enabled", "false");
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(a_.send(agent));
}

TEST_P(AgentRequests, BadRequestsAreCountedByAddressAndLockNoAgentThatIsKnownThere) {
  a_.set("agent_max_requests_per_minute", "3");
  auto agent = a_.enrolled("dc1"), stranger = a_.enrolled("dc2");
  stranger.audience = "https://other.example";
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(a_.send(stranger, "203.0.113.5").error().code, Code::unauthenticated) << i;
  EXPECT_EQ(a_.send(stranger, "203.0.113.5").error().code, Code::throttled);
  EXPECT_EQ(a_.send(agent, "203.0.113.5").error().code, Code::throttled);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(a_.send(stranger));  // from the address of dc1
  EXPECT_TRUE(a_.send(agent));
  EXPECT_LE(a_.count("attempts WHERE kind = 'agent.signature'"), 6);
}

TEST_P(AgentRequests, TwoAddressesWithinAMinuteAreAWarning) {
  auto agent = a_.enrolled("dc1");
  EXPECT_TRUE(a_.send(agent));
  EXPECT_TRUE(to_json(a_.row("dc1"), a_.clock.now())["warning"].is_null());
  a_.clock.advance(61s);
  EXPECT_TRUE(a_.send(agent, "203.0.113.5"));  // it moved
  EXPECT_TRUE(to_json(a_.row("dc1"), a_.clock.now())["warning"].is_null());
  a_.clock.advance(30s);
  EXPECT_TRUE(a_.send(agent));
  auto warning = to_json(a_.row("dc1"), a_.clock.now())["warning"].get<std::string>();
  EXPECT_NE(warning.find("203.0.113.5 and 198.51.100.7"), std::string::npos) << warning;
}

INSTANTIATE_TEST_SUITE_P(Engines, AgentRequests, each_database(), engine_name);

}  // namespace
}  // namespace dash::agent
