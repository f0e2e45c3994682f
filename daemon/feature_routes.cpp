#include "core/setup/feature_panel.hpp"
#include "daemon/auth.hpp"
#include "daemon/body.hpp"
#include "daemon/routes.hpp"

namespace dash::daemon {
namespace {

Result<identity::Principal> panel_admin(app::Services& s, const Request& request) {
  auto who = TRY(setup_caller(s, request));
  if (!who) return fail(Code::unauthenticated, "Authentication required");
  TRY(identity::require_admin(*who));
  return *std::move(who);
}

Result<Response> read(app::Services& s, const Request& request) {
  auto who = TRY(panel_admin(s, request));
  return json_response(200, TRY(setup::read_panel(s.config, who, request.param("panel"))));
}

Result<Response> change(app::Services& s, const Request& request) {
  auto who = TRY(panel_admin(s, request));
  auto body = TRY(json_object(request));
  TRY(setup::change_panel(s.config, s.setup, who, request.param("panel"), body));
  return json_response(200, OrderedJson{{"ok", true}});
}

}  // namespace

void add_feature_routes(std::vector<Route>& routes, app::Services& s) {
  routes.push_back({.pattern = "/api/features", .handler = [&s](Request&) -> Result<Response> {
                      return json_response(200, TRY(setup::list_features(s.config)));
                    }});
  routes.push_back({.pattern = "/api/health",
                    .handler = [](Request&) -> Result<Response> {
                      return json_response(200, OrderedJson{{"status", "ok"}, {"version", DASH_VERSION}});
                    },
                    .pool = Pool::io});
  routes.push_back(
      {.pattern = "/api/setup/feature/{panel}", .handler = [&s](Request& r) { return read(s, r); }});
  routes.push_back({.method = "PATCH",
                    .pattern = "/api/setup/feature/{panel}",
                    .handler = [&s](Request& r) { return change(s, r); },
                    .body = Body::small});
}

}  // namespace dash::daemon
