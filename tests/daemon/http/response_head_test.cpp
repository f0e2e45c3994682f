#include "daemon/http/response_head.hpp"

#include "tests/daemon/running.hpp"

namespace dash::daemon {
namespace {

TEST(Server, AnswersCarrySecurityHeaders) {
  Running running({hello()});
  auto answer = ask(running.port(), get("/api/hello"));
  EXPECT_EQ(answer.headers["x-content-type-options"], "nosniff");
  EXPECT_EQ(answer.headers["cache-control"], "no-store");
  auto page = ask(running.port(), get("/console/nothing"));
  EXPECT_TRUE(page.headers["content-security-policy"].starts_with("default-src 'none'"));
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

}  // namespace
}  // namespace dash::daemon
