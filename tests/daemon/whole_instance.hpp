// A whole instance in a scratch folder behind a server in this process.
#pragma once
#include "core/app/application.hpp"
#include "core/identity/accounts.hpp"
#include "daemon/routes/auth.hpp"
#include "daemon/routes/contract.hpp"
#include "daemon/routes/routes.hpp"
#include "tests/daemon/running.hpp"
#include "tests/support/scratch.hpp"

namespace dash::daemon {

struct WholeInstance {
  WholeInstance() {
    app::Options options;
    options.data_dir = scratch / "data";
    instance = must(app::open_instance(options));
  }
  // With its own routes, held to daemon/openapi.yaml, unless the test has others.
  void serve(ServerOptions options = {}) {
    serve(check_contract(all_routes(application())), std::move(options));
  }
  void serve(std::vector<Route> routes, ServerOptions options = {}) {
    options.authenticate = make_authenticate(application());
    running = std::make_unique<Running>(std::move(routes), std::move(options));
  }
  app::Application& application() { return instance->application(); }
  std::uint16_t port() const { return running->port(); }
  void add_user(std::string name, bool is_admin) {
    must(application().accounts.add(local_operator(),
                                    {std::move(name), Secret("correct horse"), is_admin, {}, {}}));
  }
  // The header of a session.
  std::string session(const std::string& name) {
    auto login = must(application().accounts.sign_in({name, Secret("correct horse"), "127.0.0.1", ""}));
    return "Authorization: Bearer " + login.access_token + "\r\n";
  }
  // The header of a personal access token.
  std::string token(const std::string& name) {
    auto issued = must(application().accounts.issue_token(local_operator(), {"test", name, 0}));
    return "Authorization: Bearer " + std::string(issued.token.expose()) + "\r\n";
  }
  // The first answer to a head that promises 60 MiB: 100 when the server wants to read them.
  int answer_to_head(const std::string& path, const std::string& headers = "") {
    return ask(port(), "POST " + path + " HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\n" +
                           "Content-Length: 62914560\r\n" + headers + "\r\n")
        .status;
  }

  Scratch scratch;
  std::unique_ptr<app::Instance> instance;
  std::unique_ptr<Running> running;
};

}  // namespace dash::daemon
