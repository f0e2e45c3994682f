#include "core/windows/windows.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

Result<Response> list(app::Services& s, const Request& request) {
  bool enabled_only = request.query.get_or("enabled_only", "") == "true";
  OrderedJson out;
  out["windows"] = OrderedJson::array();
  for (const auto& window : TRY(s.windows.list()))
    if (window.enabled || !enabled_only)
      out["windows"].push_back(TRY(windows::to_json(window, s.clock.now())));
  return json_response(200, out);
}

// The window, and what is perhaps not meant about it.
Result<Response> saved(app::Services& s, int status, const windows::Window& window) {
  auto out = TRY(windows::to_json(window, s.clock.now()));
  out["warnings"] = TRY(s.windows.warnings_of(window));
  return json_response(status, out);
}

Result<Response> create(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  return saved(s, 201, TRY(s.windows.create(who, TRY(json_object(request)))));
}

Result<Response> update(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  return saved(s, 200, TRY(s.windows.update(who, request.param("id"), TRY(json_object(request)))));
}

Result<Response> remove(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  TRY(s.windows.remove(who, request.param("id")));
  return json_response(200, OrderedJson{{"deleted", request.param("id")}});
}

}  // namespace

void add_change_window_routes(std::vector<Route>& routes, app::Services& s) {
  routes.push_back({.pattern = "/api/change-windows", .auth = Auth::signed_in, .handler = [&s](Request& r) {
                      return list(s, r);
                    }});
  routes.push_back({.method = "POST",
                    .pattern = "/api/change-windows",
                    .auth = Auth::signed_in,
                    .handler = [&s](Request& r) { return create(s, r); },
                    .body = Body::small});
  routes.push_back({.method = "PUT",
                    .pattern = "/api/change-windows/{id}",
                    .auth = Auth::signed_in,
                    .handler = [&s](Request& r) { return update(s, r); },
                    .body = Body::small});
  routes.push_back({.method = "DELETE",
                    .pattern = "/api/change-windows/{id}",
                    .auth = Auth::signed_in,
                    .handler = [&s](Request& r) { return remove(s, r); }});
}

}  // namespace dash::daemon
