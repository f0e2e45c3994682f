#include "daemon/server/dispatch.hpp"

#include "core/base/json.hpp"
#include "tests/daemon/running.hpp"

namespace dash::daemon {
namespace {

Route failing(std::string pattern, Error error) {
  return {.pattern = std::move(pattern),
          .auth = Auth::anybody,
          .handler = [error](Request&) -> Result<Response> { return Failure(error); }};
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

TEST(Server, WritesOneAccessLineWithoutTheQuery) {
  Running running({hello()});
  ask(running.port(),
      "GET /api/hello?token=hunter2 HTTP/1.1\r\nHost: t\r\nX-Request-Id: line-1\r\nConnection: "
      "close\r\n\r\n");
  running.server->stop();
  EXPECT_EQ(running.log.count(R"("method":"GET","path":"/api/hello","status":200)"), 1u);
  EXPECT_EQ(running.log.count(R"("bytes":17,"request_id":"line-1","trace_id":")"), 1u);
  EXPECT_EQ(running.log.count(R"("client":"127.0.0.1")"), 1u);
  EXPECT_EQ(running.log.count("hunter2"), 0u);
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

TEST(Server, SendsAPathWithASlashTooManyToTheOneWithout) {
  Running running({hello()});
  auto answer = ask(running.port(), get("/api/hello/?a=%20b"));
  EXPECT_EQ(answer.status, 307);
  EXPECT_EQ(answer.headers["location"], "/api/hello?a=%20b");
  EXPECT_EQ(answer.body, "");
  EXPECT_EQ(ask(running.port(), get("/api/nothing/")).status, 404);
  EXPECT_EQ(ask(running.port(), get("//example.com/")).status, 404);
}

}  // namespace
}  // namespace dash::daemon
