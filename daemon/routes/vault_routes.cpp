#include "core/setup/vaults.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

Result<Response> list(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  auto vaults = OrderedJson::array();
  for (const auto& vault : TRY(s.vaults.list(who))) vaults.push_back(setup::to_json(vault));
  return json_response(200, OrderedJson{{"vaults", vaults}});
}

Result<Response> add(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  auto body = TRY(json_object(request));
  auto id = TRY(required_string(body, "id"));
  auto backend = TRY(required_string(body, "backend"));
  return json_response(201, setup::to_json(TRY(s.vaults.add(who, id, backend))));
}

Result<Response> remove(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  TRY(s.vaults.remove(who, request.param("id"), request.query.get_or("backend", "")));
  return json_response(200, OrderedJson{{"ok", true}});
}

}  // namespace

void add_vault_routes(std::vector<Route>& routes, app::Services& s) {
  routes.push_back({.pattern = "/api/secrets/vaults", .auth = Auth::signed_in, .handler = [&s](Request& r) {
                      return list(s, r);
                    }});
  routes.push_back({.method = "POST",
                    .pattern = "/api/secrets/vaults",
                    .auth = Auth::signed_in,
                    .handler = [&s](Request& r) { return add(s, r); },
                    .body = Body::small});
  routes.push_back({.method = "DELETE",
                    .pattern = "/api/secrets/vaults/{id}",
                    .auth = Auth::signed_in,
                    .handler = [&s](Request& r) { return remove(s, r); }});
}

}  // namespace dash::daemon
