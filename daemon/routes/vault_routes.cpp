#include "core/setup/vaults.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

Result<Response> list(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto vaults = OrderedJson::array();
  for (const auto& vault : TRY(app.vaults.list(principal))) vaults.push_back(setup::to_json(vault));
  return json_response(200, OrderedJson{{"vaults", vaults}});
}

Result<Response> add(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto body = TRY(json_object(request));
  auto id = TRY(required_string(body, "id"));
  auto backend = TRY(required_string(body, "backend"));
  return json_response(201, setup::to_json(TRY(app.vaults.add(principal, id, backend))));
}

Result<Response> remove(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  TRY(app.vaults.remove(principal, request.param("id"), request.query.get_or("backend", "")));
  return json_response(200, OrderedJson{{"ok", true}});
}

}  // namespace

void add_vault_routes(std::vector<Route>& routes, app::Application& app) {
  routes.push_back({.pattern = "/api/secrets/vaults", .auth = Auth::admin, .handler = [&app](Request& r) {
                      return list(app, r);
                    }});
  routes.push_back({.method = "POST",
                    .pattern = "/api/secrets/vaults",
                    .auth = Auth::admin,
                    .handler = [&app](Request& r) { return add(app, r); },
                    .body = Body::small});
  routes.push_back({.method = "DELETE",
                    .pattern = "/api/secrets/vaults/{id}",
                    .auth = Auth::admin,
                    .handler = [&app](Request& r) { return remove(app, r); }});
}

}  // namespace dash::daemon
