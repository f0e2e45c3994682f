#include "core/automation/automation.hpp"
#include "core/config/clouds.hpp"
#include "core/setup/settings_page.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/routes.hpp"
#include "daemon/routes/state_query.hpp"

namespace dash::daemon {
namespace {

Result<Response> read(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  return json_response(200, TRY(setup::read_settings_page(app.config, principal, request.param("panel"))));
}

// A runner that nobody here knows is stored as it is given.
void add_runner_warnings(app::Application& app, const Json& body, OrderedJson& out) {
  config::Values sent;
  for (const auto& [key, value] : body.items())
    if (value.is_string()) sent[config::canonical_key(key)] = value.get<std::string>();
  if (auto warnings = app.automation.runner_warnings(sent); !warnings.empty()) out["warnings"] = warnings;
}

Result<Response> change(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto body = TRY(json_object(request));
  TRY(setup::change_settings_page(app.config, app.config_service, principal, request.param("panel"), body,
                                  TRY(state_query(request))));
  OrderedJson out{{"ok", true}};
  add_runner_warnings(app, body, out);
  return json_response(200, out);
}

}  // namespace

void add_feature_routes(std::vector<Route>& routes, app::Application& app) {
  routes.push_back(
      {.pattern = "/api/features", .auth = Auth::anybody, .handler = [&app](Request&) -> Result<Response> {
         return json_response(200, TRY(setup::list_features(app.config)));
       }});
  routes.push_back({.pattern = "/api/health",
                    .auth = Auth::anybody,
                    .handler = [](Request&) -> Result<Response> {
                      return json_response(200, OrderedJson{{"status", "ok"}, {"version", DASH_VERSION}});
                    },
                    .pool = Pool::io});
  routes.push_back({.pattern = "/api/setup/feature/{panel}",
                    .auth = Auth::setup_admin,
                    .handler = [&app](Request& r) { return read(app, r); }});
  routes.push_back({.method = "PATCH",
                    .pattern = "/api/setup/feature/{panel}",
                    .auth = Auth::setup_admin,
                    .handler = [&app](Request& r) { return change(app, r); },
                    .body = Body::small});
}

}  // namespace dash::daemon
