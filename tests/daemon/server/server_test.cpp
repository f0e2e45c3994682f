#include "daemon/server/server.hpp"

#include <future>
#include <thread>

#include "core/base/json.hpp"
#include "tests/daemon/running.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::daemon {
namespace {

Route failing(std::string pattern, Error error) {
  return {.pattern = std::move(pattern),
          .auth = Auth::anybody,
          .handler = [error](Request&) -> Result<Response> { return Failure(error); }};
}

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

TEST(Server, UnknownPathsAndMethodsAnswerInJson) {
  Running running({hello(), echo()});
  auto missing = ask(running.port(), get("/api/nothing"));
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.body, R"({"detail":"Not Found"})");
  auto wrong = ask(running.port(), get("/api/echo"));
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.body, R"({"detail":"Method Not Allowed"})");
  EXPECT_EQ(wrong.headers["allow"], "POST");
  EXPECT_EQ(ask(running.port(), "OPTIONS /api/hello HTTP/1.1\r\nHost: t\r\n\r\n").headers["allow"],
            "GET, HEAD");
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

TEST(Server, RequestIdsAreTakenWhenHarmlessAndMadeOtherwise) {
  Running running({hello()});
  auto id_for = [&](const std::string& line) {
    return ask(running.port(), "GET /api/hello HTTP/1.1\r\nHost: t\r\n" + line + "\r\n")
        .headers["x-request-id"];
  };
  EXPECT_EQ(id_for("X-Request-Id: trace-7_a.b\r\n"), "trace-7_a.b");
  for (const auto& line :
       {std::string(), std::string("X-Request-Id: a b\r\n"), "X-Request-Id: " + std::string(65, 'a') + "\r\n",
        std::string("X-Request-Id: \"quoted\"\r\n")}) {
    auto id = id_for(line);
    EXPECT_EQ(id.size(), 12u) << line;
    EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), id.npos) << id;
  }
}

TEST(Server, WritesOneAccessLineWithoutTheQuery) {
  Running running({hello()});
  ask(running.port(),
      "GET /api/hello?token=hunter2 HTTP/1.1\r\nHost: t\r\nX-Request-Id: line-1\r\nConnection: "
      "close\r\n\r\n");
  running.server->stop();
  EXPECT_EQ(running.log.count(R"("method":"GET","path":"/api/hello","status":200)"), 1u);
  EXPECT_EQ(running.log.count(R"("bytes":17,"request_id":"line-1","client":"127.0.0.1")"), 1u);
  EXPECT_EQ(running.log.count("hunter2"), 0u);
}

TEST(Server, AnErrorsDetailGoesToTheLogAlone) {
  Running running(
      {failing("/api/broken",
               {.code = Code::internal, .message = "the disk is broken", .detail = "SELECT secret"}),
       {.pattern = "/api/throws", .auth = Auth::anybody, .handler = [](Request&) -> Result<Response> {
          throw std::runtime_error("SELECT secret");
        }}});
  auto answer = ask(running.port(), get("/api/broken"));
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.body, R"({"detail":"the disk is broken"})");
  auto thrown = ask(running.port(), get("/api/throws"));
  EXPECT_EQ(thrown.status, 500);
  EXPECT_EQ(thrown.body.find("SELECT"), std::string::npos);
  EXPECT_EQ(running.log.count(thrown.headers["x-request-id"] + R"(","method":"GET","path":"/api/throws")"),
            1u);
  EXPECT_EQ(running.log.count(R"("detail":"SELECT secret")"), 2u);
}

TEST(Server, AChallengeGoesWithA401ExceptOnSetupRoutes) {
  auto nobody = make_error(Code::unauthenticated, "Not authenticated");
  Running running({failing("/api/jobs", nobody), failing("/api/setup/config", nobody)});
  EXPECT_EQ(ask(running.port(), get("/api/jobs")).headers["www-authenticate"], "Bearer");
  EXPECT_FALSE(ask(running.port(), get("/api/setup/config")).headers.contains("www-authenticate"));
}

TEST(Server, AnswersCarrySecurityHeaders) {
  Running running({hello()});
  auto answer = ask(running.port(), get("/api/hello"));
  EXPECT_EQ(answer.headers["x-content-type-options"], "nosniff");
  EXPECT_EQ(answer.headers["cache-control"], "no-store");
  auto page = ask(running.port(), get("/console/nothing"));
  EXPECT_TRUE(page.headers["content-security-policy"].starts_with("default-src 'self'"));
}

TEST(Server, AHeaderThatWouldEndItsLineIsLeftOut) {
  Running running({{.pattern = "/api/x", .auth = Auth::anybody, .handler = [](Request&) -> Result<Response> {
                      auto response = text_response(200, "text/plain", "body");
                      response.headers.add("X-Name", "a\r\nSet-Cookie: b");
                      return response;
                    }}});
  auto answer = ask(running.port(), get("/api/x"));
  EXPECT_EQ(answer.body, "body");
  EXPECT_FALSE(answer.headers.contains("x-name"));
  EXPECT_FALSE(answer.headers.contains("set-cookie"));
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

TEST(Server, TellsWhetherItIsReady) {
  bool good = false;
  ServerOptions options;
  options.ready_checks = {
      {"database",
       [&]() -> Result<void> { return good ? Result<void>{} : fail(Code::internal, "cannot be opened"); }},
      {"policy", []() -> Result<void> { return fail(Code::policy_unavailable, "no engine"); },
       CheckKind::reported},
      {"disk", []() -> Result<void> { return fail(Code::busy, "is full"); }, CheckKind::degrades}};
  Running running({}, options);
  EXPECT_TRUE(wait_until([&] {
    return ask(running.port(), get("/metrics")).body.find("dashctl_degraded 1") != std::string::npos;
  }));
  auto before = ask(running.port(), get("/readyz"));
  EXPECT_EQ(before.status, 503);
  EXPECT_EQ(before.body, R"({"ready":false,"checks":{"database":"cannot be opened","policy":"no engine"},)"
                         R"("degraded":["disk: is full"]})");
  good = true;
  auto after = ask(running.port(), get("/readyz"));
  EXPECT_EQ(after.status, 200);
  EXPECT_EQ(after.body, R"({"ready":true,"checks":{"database":"ok","policy":"no engine"},)"
                        R"("degraded":["disk: is full"]})");
  auto metrics = ask(running.port(), get("/metrics")).body;
  EXPECT_NE(metrics.find("dashctl_check_ok{check=\"database\"} 1"), std::string::npos) << metrics;
  EXPECT_NE(metrics.find("dashctl_check_ok{check=\"policy\"} 0"), std::string::npos) << metrics;
}

TEST(Server, AnswersWhileAChecksOwnDependencyHangs) {
  std::promise<void> release;
  auto over = release.get_future().share();
  ServerOptions options;
  auto hang = [over]() -> Result<void> {
    over.wait();
    return {};
  };
  options.ready_checks = {{"database", hang}, {"database_writes", hang, CheckKind::degrades}};
  {
    Running running({}, options);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(ask(running.port(), get("/livez")).status, 200);
    auto ready = ask(running.port(), get("/readyz"));
    EXPECT_EQ(ready.status, 503);
    EXPECT_EQ(ready.body, R"({"ready":false,"checks":{"database":"no answer within 2 s"},)"
                          R"("degraded":["database_writes: no answer within 2 s"]})");
    EXPECT_NE(ask(running.port(), get("/metrics")).body.find("dashctl_check_ok{check=\"database\"} 0"),
              std::string::npos);
    release.set_value();
  }
}

TEST(Server, CountsRequestsByPatternAndClass) {
  Running running(
      {hello(), {.pattern = "/api/jobs/{id}", .auth = Auth::anybody, .handler = hello().handler}});
  RawClient client(running.port());
  for (auto path : {"/api/jobs/1", "/api/jobs/2", "/api/secret-path"}) client.ask(get(path));
  auto metrics = client.ask(get("/metrics"));
  EXPECT_TRUE(metrics.headers["content-type"].starts_with("text/plain; version=0.0.4"));
  auto has = [&](std::string_view line) { return metrics.body.find(line) != std::string::npos; };
  EXPECT_TRUE(has(R"(dashctl_http_requests_total{method="GET",route="/api/jobs/{id}",status="2xx"} 2)"))
      << metrics.body;
  EXPECT_TRUE(has(R"(dashctl_http_requests_total{method="",route="none",status="4xx"} 1)"));
  EXPECT_TRUE(has(R"(dashctl_http_request_seconds_bucket{le="+Inf"} 3)"));
  EXPECT_TRUE(has("dashctl_connections 1\n"));
  EXPECT_TRUE(has("dashctl_part_buffers_free 2\n"));
  EXPECT_TRUE(has(R"(dashctl_pool_threads{pool="login"} 2)"));
  EXPECT_FALSE(has("secret-path"));
}

TEST(Server, HandlersThatBlockHoldUpNobodyElse) {
  Gate gate;
  Running running(
      {{.pattern = "/api/slow", .auth = Auth::anybody, .handler = [&](Request&) -> Result<Response> {
          gate.pass();
          return json_response(200, OrderedJson{{"done", true}});
        }}});
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

TEST(Server, SendsAPathWithASlashTooManyToTheOneWithout) {
  Running running({hello()});
  auto answer = ask(running.port(), get("/api/hello/?a=%20b"));
  EXPECT_EQ(answer.status, 307);
  EXPECT_EQ(answer.headers["location"], "/api/hello?a=%20b");
  EXPECT_EQ(answer.body, "");
  EXPECT_EQ(ask(running.port(), get("/api/nothing/")).status, 404);
  EXPECT_EQ(ask(running.port(), get("//example.com/")).status, 404);
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

}  // namespace
}  // namespace dash::daemon
