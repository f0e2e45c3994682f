#include "core/base/text.hpp"
#include "core/windows/workgroups.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

// Workgroups are lower-case; a client may spell them otherwise.
std::string name_of(const Request& request) { return lower(request.param("name")); }

Response no_content() { return text_response(204, "application/json", ""); }

Result<Response> list(app::Application& app, const Request&) {
  auto out = OrderedJson::array();
  for (const auto& group : TRY(app.workgroups.list())) out.push_back(windows::to_json(group));
  return json_response(200, out);
}

Result<Response> show(app::Application& app, const Request& request) {
  return json_response(200, windows::to_json(TRY(app.workgroups.get(name_of(request)))));
}

Result<Response> members(app::Application& app, const Request& request) {
  return json_response(200, OrderedJson(TRY(app.workgroups.get(name_of(request))).members));
}

Result<Response> create(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  return json_response(201,
                       windows::to_json(TRY(app.workgroups.create(principal, TRY(json_object(request))))));
}

Result<Response> update(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  return json_response(
      200,
      windows::to_json(TRY(app.workgroups.update(principal, name_of(request), TRY(json_object(request))))));
}

Result<Response> remove(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  TRY(app.workgroups.remove(principal, name_of(request)));
  return no_content();
}

Result<Response> add_member(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  TRY(app.workgroups.add_member(principal, name_of(request), request.param("username")));
  return no_content();
}

// The same with the name in the body.
Result<Response> add_named_member(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto username = TRY(required_string(TRY(json_object(request)), "username"));
  TRY(app.workgroups.add_member(principal, name_of(request), username));
  return no_content();
}

Result<Response> remove_member(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  TRY(app.workgroups.remove_member(principal, name_of(request), request.param("username")));
  return no_content();
}

}  // namespace

void add_workgroup_routes(std::vector<Route>& routes, app::Application& app) {
  routes.push_back({.pattern = "/api/workgroups", .auth = Auth::signed_in, .handler = [&app](Request& r) {
                      return list(app, r);
                    }});
  routes.push_back({.method = "POST",
                    .pattern = "/api/workgroups",
                    .auth = Auth::admin_session,
                    .handler = [&app](Request& r) { return create(app, r); },
                    .body = Body::small});
  routes.push_back({.pattern = "/api/workgroups/{name}",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return show(app, r); }});
  routes.push_back({.pattern = "/api/workgroups/{name}/members",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return members(app, r); }});
  routes.push_back({.method = "PATCH",
                    .pattern = "/api/workgroups/{name}",
                    .auth = Auth::admin_session,
                    .handler = [&app](Request& r) { return update(app, r); },
                    .body = Body::small});
  routes.push_back({.method = "DELETE",
                    .pattern = "/api/workgroups/{name}",
                    .auth = Auth::admin_session,
                    .handler = [&app](Request& r) { return remove(app, r); }});
  routes.push_back({.method = "POST",
                    .pattern = "/api/workgroups/{name}/members",
                    .auth = Auth::admin_session,
                    .handler = [&app](Request& r) { return add_named_member(app, r); },
                    .body = Body::small});
  routes.push_back({.method = "POST",
                    .pattern = "/api/workgroups/{name}/members/{username}",
                    .auth = Auth::admin_session,
                    .handler = [&app](Request& r) { return add_member(app, r); }});
  routes.push_back({.method = "DELETE",
                    .pattern = "/api/workgroups/{name}/members/{username}",
                    .auth = Auth::admin_session,
                    .handler = [&app](Request& r) { return remove_member(app, r); }});
}

}  // namespace dash::daemon
