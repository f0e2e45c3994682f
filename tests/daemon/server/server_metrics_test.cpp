#include "tests/daemon/running.hpp"

namespace dash::daemon {
namespace {

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
  EXPECT_TRUE(has(R"(dashctl_http_requests_total{method="",route="none",status="4xx"})"));
  EXPECT_TRUE(has(R"(dashctl_http_request_seconds_bucket{le="+Inf"})"));
  EXPECT_TRUE(has("dashctl_connections 1\n"));
  EXPECT_TRUE(has("dashctl_part_buffers_free 2\n"));
  EXPECT_TRUE(has(R"(dashctl_pool_threads{pool="login"} 2)"));
  EXPECT_FALSE(has("secret-path"));
}

}  // namespace
}  // namespace dash::daemon
