#include "daemon/server/readiness.hpp"

#include <future>

#include "core/base/json.hpp"
#include "daemon/server/server.hpp"
#include "tests/daemon/running.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::daemon {
namespace {

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

}  // namespace
}  // namespace dash::daemon
