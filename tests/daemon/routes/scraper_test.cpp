#include "daemon/routes/scraper.hpp"

#include "tests/daemon/running.hpp"

namespace dash::daemon {
namespace {

TEST(Scraper, IsOfThisMachineAndCameByNoProxy) {
  ServerOptions options;
  options.authenticate = admit_scrapers({}, [] { return std::string("dash.example:8443"); });
  Running running({hello()}, options);
  auto status = [&](const std::string& headers) {
    return ask(running.port(), "GET /metrics HTTP/1.1\r\n" + headers + "\r\n").status;
  };
  EXPECT_EQ(status("Host: 127.0.0.1:9\r\n"), 200);
  EXPECT_EQ(status("Host: dash.example\r\n"), 401);
  EXPECT_EQ(status("Host: DASH.example.:9\r\n"), 401);
  for (auto* proxied : {"Forwarded: for=1.2.3.4", "X-Forwarded-For: 127.0.0.1", "X-FORWARDED-Proto: https",
                        "X-Real-IP: 127.0.0.1", "Via: 1.1 proxy"})
    EXPECT_EQ(status(std::string("Host: t\r\n") + proxied + "\r\n"), 401) << proxied;
}

TEST(Scraper, MayReadNothingElse) {
  Route secret = hello();
  secret.auth = Auth::admin;
  Running running({secret});
  EXPECT_EQ(ask(running.port(), get("/api/hello")).status, 401);
}

}  // namespace
}  // namespace dash::daemon
