// What one client may cost. The limits are tiny here, so that a test waits for the server's answer and not
// for a clock.
#include "daemon/server/limits.hpp"

#include <list>

#include "daemon/server/min_rate.hpp"
#include "tests/daemon/running.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::daemon {
namespace {

using std::chrono::milliseconds;

TEST(Limits, AHeadThatDoesNotEndIs408) {
  ServerOptions options;
  options.limits.head_time = milliseconds(30);
  Running running({hello()}, options);
  RawClient client(running.port());
  EXPECT_EQ(client.ask("GET /api/hello HTTP/1.1\r\n").status, 408);
  EXPECT_TRUE(client.closed());
}

TEST(Limits, AnIdleConnectionIsClosedWithoutAWord) {
  ServerOptions options;
  options.limits.idle_time = milliseconds(30);
  Running running({hello()}, options);
  RawClient client(running.port());
  EXPECT_EQ(client.ask(get("/api/hello")).status, 200);
  EXPECT_TRUE(client.closed());
}

TEST(Limits, ABodyThatStallsIs408) {
  ServerOptions options;
  options.limits.stall_time = milliseconds(30);
  Running running({echo()}, options);
  RawClient client(running.port());
  EXPECT_EQ(client.ask("POST /api/echo HTTP/1.1\r\nHost: t\r\nContent-Length: 100\r\n\r\nsome").status, 408);
  EXPECT_TRUE(client.closed());
}

TEST(Limits, ATrickleBelowTheFloorIs408WhetherDeclaredOrChunked) {
  ServerOptions options;
  options.limits.floor_window = milliseconds(50);
  options.limits.floor_bytes_per_second = 1u << 30;
  for (auto* framing : {"Content-Length: 100000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n"}) {
    Running running({echo()}, options);
    RawClient client(running.port());
    client.send("POST /api/echo HTTP/1.1\r\nHost: t\r\n" + std::string(framing));
    EXPECT_EQ(client.receive().status, 408) << framing;
  }
}

TEST(Limits, APartHasAFloorOfItsOwnBecauseItHoldsABuffer) {
  ServerOptions options;
  options.limits.floor_window = milliseconds(50);
  options.limits.floor_bytes_per_second = 0;
  options.limits.part_floor_bytes_per_second = 1u << 30;
  Route sink{.method = "PUT",
             .pattern = "/api/sink",
             .auth = Auth::anybody,
             .handler = hello().handler,
             .body = Body::part,
             .max_body = kPartBytes};
  Running running({sink}, options);
  RawClient client(running.port());
  EXPECT_EQ(client.ask("PUT /api/sink HTTP/1.1\r\nHost: t\r\nContent-Length: 8388608\r\n\r\nsome").status,
            408);
  EXPECT_EQ(running.buffers.available(), 2u);
}

TEST(Limits, AClientThatDoesNotReadIsCut) {
  ServerOptions options;
  options.limits.stall_time = milliseconds(50);
  Running running({{.pattern = "/api/large",
                    .auth = Auth::anybody,
                    .handler = [](Request&) -> Result<Response> {
                      return text_response(200, "text/plain", std::string(64u << 20, 'x'));
                    }}},
                  options);
  RawClient client(running.port());
  client.send(get("/api/large"));
  EXPECT_TRUE(wait_until([&] { return running.log.count(R"("cut":true)") > 0; }));
  EXPECT_FALSE(client.receive().whole);
}

TEST(Limits, SmallBodiesTogetherAreBounded) {
  Gate gate;
  auto waits = echo();
  waits.pattern = "/api/waits";
  waits.handler = [&](Request& request) -> Result<Response> {
    gate.pass();
    return text_response(200, "text/plain", std::string(request.body));
  };
  ServerOptions options;
  options.limits.small_bodies_bytes = 10;
  Running running({waits, echo()}, options);
  RawClient first(running.port());
  first.send(post("/api/waits", "12345678"));
  gate.await_arrivals(1);
  EXPECT_EQ(ask(running.port(), post("/api/echo", "123")).status, 503);
  EXPECT_EQ(ask(running.port(), post("/api/echo", "12")).status, 200);
  gate.open();
  EXPECT_EQ(first.receive().body, "12345678");
  EXPECT_EQ(first.ask(post("/api/echo", "1234567890")).status, 200);
}

TEST(Limits, AFullPoolIs503AndTheOthersGoOn) {
  Gate gate;
  Route slow{.pattern = "/api/slow",
             .auth = Auth::anybody,
             .handler = [&](Request&) -> Result<Response> {
               gate.pass();
               return json_response(200, OrderedJson::object());
             },
             .pool = Pool::store};
  ServerOptions options;
  options.store = {1, 1};
  Running running({slow, hello()}, options);
  RawClient working(running.port()), waiting(running.port());
  working.send(get("/api/slow"));
  gate.await_arrivals(1);
  waiting.send(get("/api/slow"));
  RawClient probe(running.port());
  EXPECT_TRUE(wait_until([&] {
    return probe.ask(get("/metrics")).body.find(R"(dashctl_pool_queued{pool="store"} 1)") !=
           std::string::npos;
  }));
  auto answer = probe.ask(get("/api/slow"));
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.headers["retry-after"], "1");
  EXPECT_EQ(probe.ask(get("/api/hello")).status, 200);  // a slow store does not starve the rest
  EXPECT_EQ(probe.ask(get("/livez")).status, 200);
  gate.open();
  EXPECT_EQ(working.receive().status, 200);
  EXPECT_EQ(waiting.receive().status, 200);
}

TEST(Limits, IdleAndSlowClientsDoNotHoldUpAFreshOne) {
  Route sink{.method = "PUT",
             .pattern = "/api/sink",
             .auth = Auth::anybody,
             .handler = hello().handler,
             .body = Body::part,
             .max_body = kPartBytes};
  Running running({hello(), sink}, {}, /*part_count=*/8);
  std::list<RawClient> clients;
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(clients.emplace_back(running.port()).ask(get("/api/hello")).status, 200);
  for (int i = 0; i < 8; ++i)
    clients.emplace_back(running.port())
        .send("PUT /api/sink HTTP/1.1\r\nHost: t\r\nContent-Length: 8388608\r\n\r\nsome");
  for (int i = 0; i < 8; ++i) clients.emplace_back(running.port()).send("GET /api/hel");
  EXPECT_TRUE(wait_until([&] { return running.buffers.available() == 0; }));
  EXPECT_EQ(ask(running.port(), get("/api/hello")).status, 200);
}

}  // namespace
}  // namespace dash::daemon
