#include "core/windows/windows.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

Result<Response> list(app::Application& app, const Request& request) {
  bool enabled_only = request.query.get_or("enabled_only", "") == "true";
  OrderedJson out;
  out["windows"] = OrderedJson::array();
  for (const auto& window : TRY(app.windows.list()))
    if (window.enabled || !enabled_only)
      out["windows"].push_back(TRY(windows::to_json(window, app.clock.now())));
  return json_response(200, out);
}

// Returns the window, and warnings about what may be a mistake.
Result<Response> saved_response(app::Application& app, int status, const windows::Window& window) {
  auto out = TRY(windows::to_json(window, app.clock.now()));
  out["warnings"] = TRY(app.windows.warnings_of(window));
  return json_response(status, out);
}

Result<Response> create(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  return saved_response(app, 201, TRY(app.windows.create(principal, TRY(json_object(request)))));
}

Result<Response> update(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  return saved_response(app, 200,
                        TRY(app.windows.update(principal, request.param("id"), TRY(json_object(request)))));
}

Result<Response> remove(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  TRY(app.windows.remove(principal, request.param("id")));
  return json_response(200, OrderedJson{{"deleted", request.param("id")}});
}

}  // namespace

void add_change_window_routes(std::vector<Route>& routes, app::Application& app) {
  routes.push_back({.pattern = "/api/change-windows", .auth = Auth::signed_in, .handler = [&app](Request& r) {
                      return list(app, r);
                    }});
  routes.push_back({.method = "POST",
                    .pattern = "/api/change-windows",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return create(app, r); },
                    .body = Body::small});
  routes.push_back({.method = "PUT",
                    .pattern = "/api/change-windows/{id}",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return update(app, r); },
                    .body = Body::small});
  routes.push_back({.method = "DELETE",
                    .pattern = "/api/change-windows/{id}",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return remove(app, r); }});
}

}  // namespace dash::daemon
