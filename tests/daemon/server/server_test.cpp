#include "daemon/server/server.hpp"

#include <future>

#include "core/base/json.hpp"
#include "tests/daemon/running.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::daemon {
namespace {

TEST(Server, AnswersARouteAndKeepsTheConnection) {
  Running running({hello()});
  RawClient client(running.port());
  for (int i = 0; i < 3; ++i) {
    auto answer = client.ask(get("/api/hello"));
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, R"({"hello":"world"})");
    EXPECT_EQ(answer.headers["content-type"], "application/json");
    EXPECT_TRUE(answer.headers.contains("date"));
  }
}

TEST(Server, ATargetThatTwoReadersCouldReadDifferentlyIs400) {
  Running running({hello()});
  for (auto target :
       {"/api/../api/hello", "/api/%2e%2e/hello", "/api/hello%00", "/api/hello%", "/api/hello?x=%zz"})
    EXPECT_EQ(ask(running.port(), get(target)).status, 400) << target;
  for (auto target : {"/api%2fhello", "//api/hello", "/api/hellO"})
    EXPECT_EQ(ask(running.port(), get(target)).status, 404) << target;
}

TEST(Server, HandlersSeeTheDecodedRequest) {
  Request seen;
  Running running({{.pattern = "/api/assets/{backend}/{name...}",
                    .auth = Auth::anybody,
                    .handler = [&](Request& request) -> Result<Response> {
                      seen.params = request.params;
                      seen.query = request.query;
                      seen.target = request.target;
                      seen.headers = request.headers;
                      seen.peer = request.peer;
                      return json_response(200, OrderedJson::object());
                    }}});
  auto answer =
      ask(running.port(),
          "GET /api/assets/obj%5Fcloud1/a%2Fb/c%20d?raw=1&q=x+y HTTP/1.1\r\nHost: t\r\nX-One: 1\r\n\r\n");
  ASSERT_EQ(answer.status, 200);
  EXPECT_EQ(seen.params["backend"], "obj_cloud1");
  EXPECT_EQ(seen.params["name"], "a/b/c d");
  EXPECT_EQ(seen.query.get("q"), "x y");
  EXPECT_EQ(seen.target, "/api/assets/obj%5Fcloud1/a%2Fb/c%20d?raw=1&q=x+y");
  EXPECT_EQ(seen.headers.get("x-one"), "1");
  EXPECT_EQ(seen.peer, "127.0.0.1");
}

TEST(Server, HeadIsGetWithoutABody) {
  Running running({hello()});
  RawClient client(running.port());
  client.send("HEAD /api/hello HTTP/1.1\r\nHost: t\r\n\r\n" + get("/api/hello"));
  auto head = client.receive(/*to_head=*/true);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.headers["content-length"], "17");
  EXPECT_EQ(client.receive().body, R"({"hello":"world"})");
}

TEST(Server, PipelinedRequestsAreAnsweredInOrder) {
  Running running({hello(), echo()});
  RawClient client(running.port());
  client.send(post("/api/echo", "one") + post("/api/echo", "two") + get("/api/hello") +
              post("/api/echo", "three"));
  EXPECT_EQ(client.receive().body, "one");
  EXPECT_EQ(client.receive().body, "two");
  EXPECT_EQ(client.receive().body, R"({"hello":"world"})");
  EXPECT_EQ(client.receive().body, "three");
}

// As many as the input buffer holds.
TEST(Server, AnswersThousandsOfPipelinedRequests) {
  constexpr int kRequests = 3'000;
  Running running({hello()});
  for (auto path : {"/livez", "/api/hello"}) {
    RawClient client(running.port());
    std::string all;
    for (int i = 0; i < kRequests; ++i) all += get(path);
    client.send(all);
    for (int i = 0; i < kRequests; ++i) ASSERT_EQ(client.receive().status, 200) << path << " " << i;
  }
}

TEST(Server, BelievesForwardedAddressesFromTrustedProxiesOnly) {
  Route who{
      .pattern = "/api/who", .auth = Auth::anybody, .handler = [](Request& request) -> Result<Response> {
        return text_response(200, "text/plain", request.client);
      }};
  auto request = "GET /api/who HTTP/1.1\r\nHost: t\r\nX-Forwarded-For: 198.51.100.7\r\n\r\n";
  Running direct({who});
  EXPECT_EQ(ask(direct.port(), request).body, "127.0.0.1");
  Running behind({who}, {.trusted_proxies = {"127.0.0.1"}});
  EXPECT_EQ(ask(behind.port(), request).body, "198.51.100.7");
}

TEST(Server, HandlersThatBlockHoldUpNobodyElse) {
  Gate gate;
  Running running({{.pattern = "/api/slow",
                    .auth = Auth::anybody,
                    .handler = [&](Request&) -> Result<Response> {
                      gate.pass();
                      return json_response(200, OrderedJson{{"done", true}});
                    }}},
                  {.io_threads = 1});
  std::vector<RawClient> busy;
  for (int i = 0; i < 7; ++i) {
    busy.emplace_back(running.port());
    busy.back().send(get("/api/slow"));
  }
  gate.await_arrivals(7);  // more than the pool has threads, or the loop
  EXPECT_EQ(ask(running.port(), get("/livez")).status, 200);
  gate.open();
  for (auto& client : busy) EXPECT_EQ(client.receive().body, R"({"done":true})");
}

// A folder may be on a file system that does not answer. Handlers of the database still run at once.
TEST(Server, StoresThatWereShortAndBlockNowHoldUpNobodyElse) {
  Gate gate;
  Route list{.pattern = "/api/list",
             .auth = Auth::anybody,
             .handler = [&](Request&) -> Result<Response> {
               gate.pass();
               return json_response(200, OrderedJson{{"done", true}});
             },
             .pool = Pool::store,
             .is_short_now = [] { return true; }};
  Running running({list, hello()}, {.io_threads = 1, .store = {1, 64}});
  std::vector<RawClient> busy;
  for (int i = 0; i < 4; ++i) {
    busy.emplace_back(running.port());
    busy.back().send(get("/api/list"));
  }
  gate.await_arrivals(3);  // two on the loop's threads, one on the pool's
  EXPECT_EQ(ask(running.port(), get("/api/hello")).status, 200);
  EXPECT_EQ(ask(running.port(), get("/livez")).status, 200);
  gate.open();
  for (auto& client : busy) EXPECT_EQ(client.receive().body, R"({"done":true})");
}

TEST(Server, SendsAnAnswerThatTheSocketDoesNotTakeAtOnce) {
  const std::string text(24u << 20, 'x');
  Running running(
      {{.pattern = "/api/long", .auth = Auth::anybody, .handler = [&](Request&) -> Result<Response> {
          return text_response(200, "text/plain", text);
        }}});
  RawClient client(running.port());
  for (int i = 0; i < 2; ++i) {
    auto answer = client.ask(get("/api/long"));
    EXPECT_TRUE(answer.whole && answer.body == text);
  }
}

TEST(Server, SendsTheRootToTheConsole) {
  Running running({});
  auto answer = ask(running.port(), get("/"));
  EXPECT_EQ(answer.status, 307);
  EXPECT_EQ(answer.headers["location"], "/console/");
}

TEST(Server, SpeaksHttp10) {
  Running running({hello()});
  RawClient client(running.port());
  EXPECT_EQ(client.ask("GET /api/hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").headers["connection"],
            "keep-alive");
  EXPECT_EQ(client.ask("GET /api/hello HTTP/1.0\r\n\r\n").headers["connection"], "close");
  EXPECT_TRUE(client.closed());
}

TEST(Server, RefusesAnAddressThatIsTakenOrNone) {
  Running running({});
  BufferPool buffers(1);
  auto taken = Server::start({.listen = {"127.0.0.1:" + std::to_string(running.port())}}, {}, buffers);
  ASSERT_FALSE(taken);
  EXPECT_NE(taken.error().message.find("Address already in use"), std::string::npos);
  EXPECT_EQ(taken.error().code, Code::invalid);
  for (auto bad : {"8080", "localhost:8080", "127.0.0.1:70000", "127.0.0.1:", "unix:"})
    EXPECT_EQ(Server::start({.listen = {bad}}, {}, buffers).error().code, Code::usage) << bad;
  EXPECT_EQ(Server::start({.listen = {"unix:/nonexistent-folder/x"}}, {}, buffers).error().code,
            Code::invalid);
}

TEST(Drain, ARequestUnderWayEndsWhileNewConnectionsAreRefused) {
  Gate gate;
  Running running(
      {{.pattern = "/api/slow", .auth = Auth::anybody, .handler = [&](Request&) -> Result<Response> {
          gate.pass();
          return json_response(200, OrderedJson{{"done", true}});
        }}});
  auto port = running.port();
  RawClient busy(port), idle(port);
  EXPECT_EQ(idle.ask(get("/livez")).status, 200);
  busy.send(get("/api/slow"));
  gate.await_arrivals(1);
  auto stopping = std::async(std::launch::async, [&] { running.server->stop(); });
  EXPECT_TRUE(idle.closed());
  EXPECT_TRUE(wait_until([&] { return !RawClient(port).connected(); }));
  gate.open();
  auto answer = busy.receive();
  EXPECT_EQ(answer.body, R"({"done":true})");
  EXPECT_EQ(answer.headers["connection"], "close");
  busy.close();
  stopping.wait();
  EXPECT_EQ(running.log.count("server.drain_timeout"), 0u);
}

TEST(Drain, HasADeadline) {
  ServerOptions options;
  options.limits.drain_time = std::chrono::milliseconds(20);
  Running running({echo()}, options);
  RawClient stuck(running.port());
  stuck.send("POST /api/echo HTTP/1.1\r\nHost: t\r\nContent-Length: 100\r\n\r\nsome");
  EXPECT_TRUE(wait_until([&] {
    return ask(running.port(), get("/metrics")).body.find("dashctl_connections 2") != std::string::npos;
  }));
  running.server->stop();
  EXPECT_EQ(running.log.count("server.drain_timeout"), 1u);
  EXPECT_TRUE(stuck.closed());
}

}  // namespace
}  // namespace dash::daemon
