// Large bodies to the setup routes: refused by the header section alone, before a byte of them is read.
#include "tests/daemon/whole_instance.hpp"

namespace dash::daemon {
namespace {

TEST(SetupRoutes, ALargeBodyIsReadFromAdminsAlone) {
  WholeInstance whole;
  whole.serve();
  whole.add_user("root", true);
  whole.add_user("ann", false);
  for (std::string path : {"/api/setup/import", "/api/setup/compare"}) {
    EXPECT_EQ(whole.answer_to_head(path), 401) << path;
    EXPECT_EQ(whole.answer_to_head(path, "Authorization: Bearer x.y.z\r\n"), 401) << path;
    EXPECT_EQ(whole.answer_to_head(path, whole.session("ann")), 403) << path;
    EXPECT_EQ(whole.answer_to_head(path, whole.session("root")), 100) << path;
  }
}

TEST(SetupRoutes, ARefusedClientThatGoesOnSendingReadsTheAnswer) {
  WholeInstance whole;
  whole.serve();
  whole.add_user("root", true);
  RawClient client(whole.port());
  client.send("POST /api/setup/import HTTP/1.1\r\nHost: t\r\nContent-Length: 62914560\r\n\r\n");
  client.send(std::string(4u << 20, 'x'));
  EXPECT_EQ(client.receive().status, 401);
}

TEST(SetupRoutes, ALargeClaimIsReadOnlyWithTheSetupCodeInItsHead) {
  WholeInstance whole;
  whole.serve();
  auto code = must(whole.application().setup_code.ensure());
  auto header = [](std::string_view text) { return fmt::format("X-Setup-Code: {}\r\n", text); };
  EXPECT_EQ(whole.answer_to_head("/api/setup/import"), 403);
  EXPECT_EQ(whole.answer_to_head("/api/setup/import", header("wrong")), 403);
  EXPECT_EQ(whole.answer_to_head("/api/setup/import", header(code.expose())), 100);
  whole.add_user("root", true);  // claimed: the code is worth nothing any more
  EXPECT_EQ(whole.answer_to_head("/api/setup/import", header(code.expose())), 401);
}

TEST(SetupRoutes, AnUnclaimedInstanceTakesTheSetupCodeInTheBody) {
  WholeInstance whole;
  whole.serve();
  EXPECT_EQ(whole.answer_to_head("/api/setup/compare"), 401);
  auto code = must(whole.application().setup_code.ensure());
  auto body = Json{{"config", {{"cloud1_region", "eu-west-1"}}},
                   {"setup_code", std::string(code.expose())},
                   {"admin_username", "root"},
                   {"admin_password", "correct horse"}}
                  .dump();
  EXPECT_EQ(ask(whole.port(), post("/api/setup/import", body)).status, 200);
  EXPECT_EQ(whole.answer_to_head("/api/setup/import"), 401);
}

}  // namespace
}  // namespace dash::daemon
