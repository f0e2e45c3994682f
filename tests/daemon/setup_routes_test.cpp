// Who may send the setup routes a large body: refused by the head alone, before a byte of it is read.
#include "core/app/services.hpp"
#include "core/identity/directory.hpp"
#include "core/identity/sessions.hpp"
#include "core/identity/setup_code.hpp"
#include "daemon/routes.hpp"
#include "tests/daemon/running.hpp"
#include "tests/support/scratch.hpp"

namespace dash::daemon {
namespace {

struct WholeInstance {
  WholeInstance() {
    app::Options options;
    options.data_dir = scratch / "data";
    instance = must(app::open_instance(options));
    running = std::make_unique<Running>(all_routes(services()));
  }
  app::Services& services() { return instance->services(); }
  void add_user(std::string name, bool is_admin) {
    must(services().directory.add({std::move(name), Secret("correct horse"), is_admin, {}, {}}));
  }
  // The header of a session.
  std::string session(const std::string& name) {
    auto login = must(services().sessions.login(name, Secret("correct horse"), "127.0.0.1"));
    return "Authorization: Bearer " + login.access_token + "\r\n";
  }
  // The first answer to a head that promises 60 MiB: 100 when the server wants to read them.
  int answer_to_head(const std::string& path, const std::string& headers = "") {
    return ask(running->port(), "POST " + path + " HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\n" +
                                    "Content-Length: 62914560\r\n" + headers + "\r\n")
        .status;
  }

  Scratch scratch;
  std::unique_ptr<app::Instance> instance;
  std::unique_ptr<Running> running;
};

TEST(SetupRoutes, ALargeBodyIsReadFromAdminsAlone) {
  WholeInstance whole;
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
  whole.add_user("root", true);
  RawClient client(whole.running->port());
  client.send("POST /api/setup/import HTTP/1.1\r\nHost: t\r\nContent-Length: 62914560\r\n\r\n");
  client.send(std::string(4u << 20, 'x'));
  EXPECT_EQ(client.receive().status, 401);
}

TEST(SetupRoutes, AnUnclaimedInstanceTakesTheSetupCodeInTheBody) {
  WholeInstance whole;
  EXPECT_EQ(whole.answer_to_head("/api/setup/compare"), 401);
  auto code = must(whole.services().setup_code.ensure());
  auto body = Json{{"config", {{"cloud1_region", "eu-west-1"}}},
                   {"setup_code", std::string(code.expose())},
                   {"admin_username", "root"},
                   {"admin_password", "correct horse"}}
                  .dump();
  EXPECT_EQ(ask(whole.running->port(), post("/api/setup/import", body)).status, 200);
  EXPECT_EQ(whole.answer_to_head("/api/setup/import"), 401);
}

}  // namespace
}  // namespace dash::daemon
