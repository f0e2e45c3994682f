#include "core/base/text.hpp"
#include "core/windows/workgroups.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

// Workgroups are lower-case; a client may say them otherwise.
std::string name_of(const Request& request) { return lower(request.param("name")); }

Response no_content() { return text_response(204, "application/json", ""); }

Result<Response> list(app::Services& s, const Request&) {
  auto out = OrderedJson::array();
  for (const auto& group : TRY(s.workgroups.list())) out.push_back(windows::to_json(group));
  return json_response(200, out);
}

Result<Response> show(app::Services& s, const Request& request) {
  return json_response(200, windows::to_json(TRY(s.workgroups.get(name_of(request)))));
}

Result<Response> members(app::Services& s, const Request& request) {
  return json_response(200, OrderedJson(TRY(s.workgroups.get(name_of(request))).members));
}

Result<Response> create(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  return json_response(201, windows::to_json(TRY(s.workgroups.create(who, TRY(json_object(request))))));
}

Result<Response> update(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  return json_response(
      200, windows::to_json(TRY(s.workgroups.update(who, name_of(request), TRY(json_object(request))))));
}

Result<Response> remove(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  TRY(s.workgroups.remove(who, name_of(request)));
  return no_content();
}

Result<Response> add_member(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  TRY(s.workgroups.add_member(who, name_of(request), request.param("username")));
  return no_content();
}

// The same with the name in the body.
Result<Response> add_named_member(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  auto username = TRY(required_string(TRY(json_object(request)), "username"));
  TRY(s.workgroups.add_member(who, name_of(request), username));
  return no_content();
}

Result<Response> remove_member(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  TRY(s.workgroups.remove_member(who, name_of(request), request.param("username")));
  return no_content();
}

}  // namespace

void add_workgroup_routes(std::vector<Route>& routes, app::Services& s) {
  routes.push_back({.pattern = "/api/workgroups", .auth = Auth::signed_in, .handler = [&s](Request& r) {
                      return list(s, r);
                    }});
  routes.push_back({.method = "POST",
                    .pattern = "/api/workgroups",
                    .auth = Auth::admin_session,
                    .handler = [&s](Request& r) { return create(s, r); },
                    .body = Body::small});
  routes.push_back({.pattern = "/api/workgroups/{name}",
                    .auth = Auth::signed_in,
                    .handler = [&s](Request& r) { return show(s, r); }});
  routes.push_back({.pattern = "/api/workgroups/{name}/members",
                    .auth = Auth::signed_in,
                    .handler = [&s](Request& r) { return members(s, r); }});
  routes.push_back({.method = "PATCH",
                    .pattern = "/api/workgroups/{name}",
                    .auth = Auth::admin_session,
                    .handler = [&s](Request& r) { return update(s, r); },
                    .body = Body::small});
  routes.push_back({.method = "DELETE",
                    .pattern = "/api/workgroups/{name}",
                    .auth = Auth::admin_session,
                    .handler = [&s](Request& r) { return remove(s, r); }});
  routes.push_back({.method = "POST",
                    .pattern = "/api/workgroups/{name}/members",
                    .auth = Auth::admin_session,
                    .handler = [&s](Request& r) { return add_named_member(s, r); },
                    .body = Body::small});
  routes.push_back({.method = "POST",
                    .pattern = "/api/workgroups/{name}/members/{username}",
                    .auth = Auth::admin_session,
                    .handler = [&s](Request& r) { return add_member(s, r); }});
  routes.push_back({.method = "DELETE",
                    .pattern = "/api/workgroups/{name}/members/{username}",
                    .auth = Auth::admin_session,
                    .handler = [&s](Request& r) { return remove_member(s, r); }});
}

}  // namespace dash::daemon
