// What agents call, over a socket: the order of the checks, the limits of bodies, leases that wait.
#include <algorithm>

#include "core/agent/dashboard/agent_jobs.hpp"
#include "core/agent/dashboard/agents.hpp"
#include "core/agent/dashboard/enrolment.hpp"
#include "core/agent/protocol/request_signature.hpp"
#include "core/config/settings.hpp"
#include "core/crypto/hash.hpp"
#include "tests/daemon/whole_instance.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::daemon {
namespace {

class AgentRoutes : public testing::Test {
 protected:
  AgentRoutes() {
    set("remote_agents_enabled", "true");
    one_.serve();
    enrol();
  }
  app::Application& app() { return one_.application(); }
  void set(const std::string& key, const std::string& value) {
    must(app().config.apply({{key, value}}, {"test", "test"}));
  }
  void enrol() {
    auto issued = must(app().agents.create(
        local_operator(), {{"name", "dc1"}, {"allowed_job_types", {"agent_storage"}}}, "http://t"));
    auto reply = must(app().enrolment.enrol({issued.code, crypto::to_base64(key_.public_key), "2.7.0", ""},
                                            "127.0.0.1", ""));
    id_ = reply.agent_id, audience_ = reply.audience;
  }
  std::string head_of(const std::string& path, std::string_view body, std::size_t length) {
    agent::RequestToSign request{audience_,
                                 id_,
                                 "POST",
                                 path,
                                 crypto::random_hex(16),
                                 std::to_string(to_micros(app().clock.now()) / 1'000'000)};
    return fmt::format(
        "POST {} HTTP/1.1\r\nHost: t\r\nX-Agent-Id: {}\r\nX-Agent-Timestamp: {}\r\nX-Agent-Nonce: {}\r\n"
        "X-Agent-Signature: {}\r\nContent-Length: {}\r\n",
        path, id_, request.timestamp, request.nonce, agent::sign_request(key_, request, body), length);
  }
  std::string signed_request(const std::string& path, std::string_view body) {
    return head_of(path, body, body.size()) + "\r\n" + std::string(body);
  }
  RawResponse send(const std::string& path, std::string_view body) {
    return ask(one_.port(), signed_request(path, body));
  }
  std::string submit() {
    return must(
        app().agent_jobs.submit({id_, "agent_storage", {{"op", "list"}}, {{"share", "docs"}}, "alice"}));
  }
  bool is_lease_waiting(std::size_t count = 1) {
    return wait_until([&] { return app().agent_jobs.waiting_leases()->count() == count; });
  }

  WholeInstance one_;
  crypto::Ed25519Key key_ = crypto::ed25519_from_seed(Secret(std::string(32, 'a')));
  std::string id_, audience_;
};

TEST_F(AgentRoutes, AJobGoesThroughAllOfThem) {
  auto job = submit();
  auto leased = send("/api/agent/lease", R"({"agent_version":"2.7.0","features":["ranges"]})");
  EXPECT_EQ(leased.status, 200);
  EXPECT_EQ(must(parse_json(leased.body))["job"]["job_id"], job);
  auto path = "/api/agent/jobs/" + job;
  EXPECT_EQ(send(path + "/heartbeat", R"({"progress_pct":50,"message":"x"})").body,
            R"({"cancel_requested":false})");
  EXPECT_EQ(send(path + "/logs", R"({"lines":["a","b"]})").body, R"({"written":2})");
  EXPECT_EQ(send(path + "/complete", R"({"status":"done"})").status, 400);
  auto done = send(path + "/complete", R"({"status":"completed","result":{"assets":[]},"error":""})");
  EXPECT_EQ(done.body, fmt::format(R"({{"job_id":"{}","status":"completed"}})", job));
  EXPECT_EQ(send(path + "/complete", R"({"status":"failed"})").status, 409);
  EXPECT_EQ(send("/api/agent/lease", "").body, R"({"job":null,"poll_interval_s":5})");
  auto agent = must(app().agents.get(local_operator(), "dc1"));
  EXPECT_EQ(agent.last_seen_ip, "127.0.0.1");
}

TEST_F(AgentRoutes, AnswersAStrangerBeforeItsBody) {
  auto head = fmt::format(
      "POST /api/agent/lease HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\nContent-Length: 9\r\n");
  EXPECT_EQ(ask(one_.port(), head + "\r\n").status, 401);
  EXPECT_EQ(ask(one_.port(), head + "X-Agent-Id: nobody\r\nX-Agent-Signature: x\r\n\r\n").status, 401);
  auto known = head_of("/api/agent/lease", "{}", 2) + "Expect: 100-continue\r\n\r\n";
  EXPECT_EQ(ask(one_.port(), known).status, 100);
}

TEST_F(AgentRoutes, EachRouteHasItsLimitOfABody) {
  auto status = [&](const std::string& path, std::size_t length) {
    return ask(one_.port(), head_of(path, "", length) + "Expect: 100-continue\r\n\r\n").status;
  };
  struct Limit {
    std::string path;
    std::size_t bytes;
  };
  for (const auto& limit :
       {Limit{"/api/agent/lease", 16u << 10}, Limit{"/api/agent/jobs/x/heartbeat", 4u << 10},
        Limit{"/api/agent/jobs/x/secret", 4u << 10}, Limit{"/api/agent/jobs/x/complete", 384u << 10},
        Limit{"/api/agent/jobs/x/logs", 4u << 20}}) {
    EXPECT_EQ(status(limit.path, limit.bytes), 100) << limit.path;
    EXPECT_EQ(status(limit.path, limit.bytes + 1), 413) << limit.path;
  }
  EXPECT_EQ(status("/api/agent/enroll", (8u << 10) + 1), 413);
}

TEST_F(AgentRoutes, ALeaseThatWaitsGetsTheJobThatComes) {
  RawClient client(one_.port());
  client.send(signed_request("/api/agent/lease", R"({"wait_s":25})"));
  ASSERT_TRUE(is_lease_waiting());
  auto job = submit();
  auto leased = client.receive();
  EXPECT_EQ(must(parse_json(leased.body))["job"]["job_id"], job);
  EXPECT_TRUE(is_lease_waiting(0));
  EXPECT_EQ(client.ask(signed_request("/api/agent/lease", "{}")).status, 200);  // the connection goes on
}

TEST_F(AgentRoutes, ALeaseThatWaitsLearnsOfItsRevocation) {
  RawClient client(one_.port());
  client.send(signed_request("/api/agent/lease", R"({"wait_s":25})"));
  ASSERT_TRUE(is_lease_waiting());
  must(app().agents.revoke(local_operator(), "dc1"));
  EXPECT_EQ(client.receive().status, 401);
}

TEST_F(AgentRoutes, ALeaseThatWaitsEndsWithTheServerAndWithItsClient) {
  RawClient gone(one_.port());
  gone.send(signed_request("/api/agent/lease", R"({"wait_s":25})"));
  ASSERT_TRUE(is_lease_waiting());
  gone.close();
  EXPECT_TRUE(is_lease_waiting(0));
  RawClient client(one_.port());
  client.send(signed_request("/api/agent/lease", R"({"wait_s":25})"));
  ASSERT_TRUE(is_lease_waiting());
  std::jthread stopping([&] { one_.running->server->stop(); });
  EXPECT_EQ(client.receive().body, R"({"job":null,"poll_interval_s":5})");
}

TEST_F(AgentRoutes, AttestAndDiscoverAreNoRoutes) {
  EXPECT_EQ(send("/api/agent/attest", "{}").status, 404);
  one_.add_user("root", true);
  auto discover = "POST /api/agents/dc1/discover HTTP/1.1\r\nHost: t\r\n" + one_.session("root") + "\r\n";
  EXPECT_EQ(ask(one_.port(), discover).status, 404);
}

TEST_F(AgentRoutes, SwitchedOffAllIs404) {
  set("remote_agents_enabled", "false");
  EXPECT_EQ(send("/api/agent/lease", "{}").status, 404);
  EXPECT_EQ(
      ask(one_.port(), "POST /api/agent/enroll HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\n{}").status,
      404);
}

TEST_F(AgentRoutes, WaitingLeasesTakeNoPlaceOfOtherConnections) {
  Limits limits;
  limits.connections = 4;
  limits.extra_connections = 0;
  ServerOptions options;
  options.limits = limits;
  one_.serve(options);
  std::vector<RawClient> waiting;
  for (std::size_t i = 1; i <= 12; ++i) {
    waiting.emplace_back(one_.port());
    waiting.back().send(signed_request("/api/agent/lease", R"({"wait_s":25})"));
    ASSERT_TRUE(is_lease_waiting(i));
  }
  EXPECT_EQ(ask(one_.port(), get("/livez")).status, 200);
  submit();
  auto jobs = std::ranges::count_if(
      waiting, [](RawClient& client) { return !must(parse_json(client.receive().body))["job"].is_null(); });
  EXPECT_EQ(jobs, 1);
}

}  // namespace
}  // namespace dash::daemon
