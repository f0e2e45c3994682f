#include "core/jobs/workgroups.hpp"
#include "daemon/auth.hpp"
#include "daemon/body.hpp"
#include "daemon/routes.hpp"

namespace dash::daemon {
namespace {

Response no_content() { return text_response(204, "application/json", ""); }

Result<Response> list(app::Services& s, const Request& request) {
  TRY(signed_in(s, request));
  OrderedJson out;
  out["workgroups"] = OrderedJson::array();
  for (const auto& group : TRY(s.workgroups.list())) out["workgroups"].push_back(jobs::to_json(group));
  return json_response(200, out);
}

Result<Response> create(app::Services& s, const Request& request) {
  auto who = TRY(signed_in(s, request));
  return json_response(201, jobs::to_json(TRY(s.workgroups.create(who, TRY(json_object(request))))));
}

Result<Response> update(app::Services& s, const Request& request) {
  auto who = TRY(signed_in(s, request));
  return json_response(
      200, jobs::to_json(TRY(s.workgroups.update(who, request.param("name"), TRY(json_object(request))))));
}

Result<Response> remove(app::Services& s, const Request& request) {
  auto who = TRY(signed_in(s, request));
  TRY(s.workgroups.remove(who, request.param("name")));
  return json_response(200, OrderedJson{{"deleted", request.param("name")}});
}

Result<Response> add_member(app::Services& s, const Request& request) {
  auto who = TRY(signed_in(s, request));
  auto username = TRY(required_string(TRY(json_object(request)), "username"));
  TRY(s.workgroups.add_member(who, request.param("name"), username));
  return no_content();
}

Result<Response> remove_member(app::Services& s, const Request& request) {
  auto who = TRY(signed_in(s, request));
  TRY(s.workgroups.remove_member(who, request.param("name"), request.param("username")));
  return no_content();
}

}  // namespace

void add_workgroup_routes(std::vector<Route>& routes, app::Services& s) {
  routes.push_back({.pattern = "/api/workgroups", .handler = [&s](Request& r) { return list(s, r); }});
  routes.push_back({.method = "POST",
                    .pattern = "/api/workgroups",
                    .handler = [&s](Request& r) { return create(s, r); },
                    .body = Body::small});
  routes.push_back({.method = "PATCH",
                    .pattern = "/api/workgroups/{name}",
                    .handler = [&s](Request& r) { return update(s, r); },
                    .body = Body::small});
  routes.push_back({.method = "DELETE", .pattern = "/api/workgroups/{name}", .handler = [&s](Request& r) {
                      return remove(s, r);
                    }});
  routes.push_back({.method = "POST",
                    .pattern = "/api/workgroups/{name}/members",
                    .handler = [&s](Request& r) { return add_member(s, r); },
                    .body = Body::small});
  routes.push_back({.method = "DELETE",
                    .pattern = "/api/workgroups/{name}/members/{username}",
                    .handler = [&s](Request& r) { return remove_member(s, r); }});
}

}  // namespace dash::daemon
