#include "core/base/shape.hpp"
#include "core/identity/accounts.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

Result<std::vector<std::string>> names_member(const Json& body, std::string_view name) {
  std::vector<std::string> out;
  auto it = body.find(name);
  if (it == body.end() || it->is_null()) return out;
  if (!it->is_array()) return wrong_type(name, "array");
  for (const auto& item : *it) {
    if (!item.is_string()) return wrong_type(name, "array");
    out.push_back(item.get<std::string>());
  }
  return out;
}

// `permissions` is what an account shows, and what the deployed dashboards take: scope to levels.
Result<std::vector<std::string>> grants_member(const Json& body) {
  auto out = TRY(names_member(body, "grants"));
  auto sent = body.find("permissions");
  if (sent == body.end() || sent->is_null()) return out;
  if (!sent->is_object()) return wrong_type("permissions", "object");
  for (const auto& entry : sent->items())
    for (const auto& level : TRY(names_member(*sent, entry.key())))
      out.push_back(fmt::format("{}:{}", entry.key(), level));
  return out;
}

Result<Response> list(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto out = OrderedJson::array();
  for (const auto& user : TRY(app.accounts.list(principal))) out.push_back(identity::to_json(user));
  return json_response(200, out);
}

Result<Response> create(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto body = TRY(json_object(request));
  identity::NewUser user;
  user.username = TRY(required_string(body, "username"));
  user.password = Secret(TRY(required_string(body, "password")));
  user.is_admin = TRY(optional_bool(body, "is_admin")).value_or(false);
  user.workgroups = TRY(names_member(body, "workgroups"));
  user.grants = TRY(grants_member(body));
  if (TRY(optional_bool(body, "is_active")) == false)
    return wrong_value("is_active", "is true of a new account; disable it afterwards");
  return json_response(201, identity::to_json(TRY(app.accounts.add(principal, user))));
}

Result<Response> change(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto body = TRY(json_object(request));
  identity::UserChange change;
  if (body.contains("permissions")) return wrong_value("permissions", "is changed by grant and ungrant");
  if (auto password = TRY(optional_string(body, "password"))) change.password = Secret(*password);
  if (auto current = TRY(optional_string(body, "current_password")))
    change.current_password = Secret(*current);
  change.revoke_tokens = TRY(optional_bool(body, "revoke_tokens")).value_or(false);
  change.is_admin = TRY(optional_bool(body, "is_admin"));
  change.is_active = TRY(optional_bool(body, "is_active"));
  change.grant = TRY(names_member(body, "grant"));
  change.ungrant = TRY(names_member(body, "ungrant"));
  return json_response(200,
                       identity::to_json(TRY(app.accounts.change(principal, request.param("name"), change))));
}

// Accounts are never deleted, because the audit log names them.
Result<Response> deactivate(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  identity::UserChange change;
  change.is_active = false;
  return json_response(200,
                       identity::to_json(TRY(app.accounts.change(principal, request.param("name"), change))));
}

}  // namespace

void add_user_routes(std::vector<Route>& routes, app::Application& app) {
  routes.push_back({.pattern = "/api/users", .auth = Auth::signed_in, .handler = [&app](Request& r) {
                      return list(app, r);
                    }});
  routes.push_back({.method = "POST",
                    .pattern = "/api/users",
                    .auth = Auth::admin_session,
                    .handler = [&app](Request& r) { return create(app, r); },
                    .body = Body::small,
                    .pool = Pool::login});
  routes.push_back({.method = "PATCH",
                    .pattern = "/api/users/{name}",
                    .auth = Auth::session,
                    .handler = [&app](Request& r) { return change(app, r); },
                    .body = Body::small,
                    .pool = Pool::login});
  routes.push_back({.method = "DELETE",
                    .pattern = "/api/users/{name}",
                    .auth = Auth::admin_session,
                    .handler = [&app](Request& r) { return deactivate(app, r); }});
}

}  // namespace dash::daemon
