#include "core/automation/hosts.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

Result<Response> list(app::Application& app, const Request& request) {
  auto hosts = OrderedJson::array();
  for (const auto& host : TRY(app.hosts.list(request.caller()))) hosts.push_back(automation::to_json(host));
  return json_response(200, OrderedJson{{"hosts", hosts}});
}

Result<Response> show(app::Application& app, const Request& request) {
  return json_response(200, automation::to_json(TRY(app.hosts.get(request.caller(), request.param("name")))));
}

Result<Response> add(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  return json_response(201, automation::to_json(TRY(app.hosts.add(principal, TRY(json_object(request))))));
}

Result<Response> change(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto body = TRY(json_object(request));
  return json_response(200,
                       automation::to_json(TRY(app.hosts.change(principal, request.param("name"), body))));
}

Result<Response> remove(app::Application& app, const Request& request) {
  TRY(app.hosts.remove(request.caller(), request.param("name")));
  return json_response(200, OrderedJson{{"ok", true}});
}

// A request without a body asks for the plain test.
Result<Response> test(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto body = request.body.empty() ? Json::object() : TRY(json_object(request));
  auto accept = TRY(optional_bool(body, "accept_new_key")).value_or(false);
  return json_response(200,
                       automation::to_json(TRY(app.hosts.test(principal, request.param("name"), accept))));
}

}  // namespace

void add_host_routes(std::vector<Route>& routes, app::Application& app) {
  routes.push_back({.pattern = "/api/hosts", .auth = Auth::signed_in, .handler = [&app](Request& r) {
                      return list(app, r);
                    }});
  routes.push_back({.method = "POST",
                    .pattern = "/api/hosts",
                    .auth = Auth::admin,
                    .handler = [&app](Request& r) { return add(app, r); },
                    .body = Body::small});
  routes.push_back({.pattern = "/api/hosts/{name}", .auth = Auth::signed_in, .handler = [&app](Request& r) {
                      return show(app, r);
                    }});
  // Not Auth::admin: a host that the caller may not see is 404, one that he may not change 403.
  routes.push_back({.method = "PATCH",
                    .pattern = "/api/hosts/{name}",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return change(app, r); },
                    .body = Body::small});
  routes.push_back({.method = "DELETE",
                    .pattern = "/api/hosts/{name}",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return remove(app, r); }});
  routes.push_back(store_route(app, "POST", "/api/hosts/{name}/test", Auth::signed_in, test, Body::small));
}

}  // namespace dash::daemon
