#include "core/setup/feature_panel.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/routes.hpp"
#include "daemon/routes/state_query.hpp"

namespace dash::daemon {
namespace {

Result<Response> read(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  return json_response(200, TRY(setup::read_panel(s.config, who, request.param("panel"))));
}

Result<Response> change(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  auto body = TRY(json_object(request));
  TRY(setup::change_panel(s.config, s.setup, who, request.param("panel"), body, TRY(state_query(request))));
  return json_response(200, OrderedJson{{"ok", true}});
}

}  // namespace

void add_feature_routes(std::vector<Route>& routes, app::Services& s) {
  routes.push_back(
      {.pattern = "/api/features", .auth = Auth::anybody, .handler = [&s](Request&) -> Result<Response> {
         return json_response(200, TRY(setup::list_features(s.config)));
       }});
  routes.push_back({.pattern = "/api/health",
                    .auth = Auth::anybody,
                    .handler = [](Request&) -> Result<Response> {
                      return json_response(200, OrderedJson{{"status", "ok"}, {"version", DASH_VERSION}});
                    },
                    .pool = Pool::io});
  routes.push_back({.pattern = "/api/setup/feature/{panel}",
                    .auth = Auth::setup_admin,
                    .handler = [&s](Request& r) { return read(s, r); }});
  routes.push_back({.method = "PATCH",
                    .pattern = "/api/setup/feature/{panel}",
                    .auth = Auth::setup_admin,
                    .handler = [&s](Request& r) { return change(s, r); },
                    .body = Body::small});
}

}  // namespace dash::daemon
