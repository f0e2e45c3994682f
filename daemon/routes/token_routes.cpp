#include "core/identity/accounts.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

Result<Response> issue(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto body = TRY(json_object(request));
  identity::NewToken wanted;
  wanted.name = TRY(required_string(body, "name"));
  wanted.days = TRY(optional_int(body, "expires_days")).value_or(0);
  wanted.username = TRY(optional_string(body, "username")).value_or(principal.username);
  auto issued = TRY(app.accounts.issue_token(principal, wanted));
  auto out = identity::to_json(issued.info);
  out["token"] = issued.token.expose();
  return json_response(201, out);
}

Result<Response> list(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto out = OrderedJson::array();
  auto username = request.query.get_or("username", principal.username);
  for (const auto& token : TRY(app.accounts.list_tokens(principal, username)))
    out.push_back(identity::to_json(token));
  return json_response(200, out);
}

Result<Response> revoke(app::Application& app, const Request& request) {
  TRY(app.accounts.revoke_token(request.caller(), request.param("id")));
  return json_response(200, OrderedJson{{"detail", "Token revoked"}});
}

}  // namespace

void add_token_routes(std::vector<Route>& routes, app::Application& app) {
  routes.push_back({.pattern = "/api/tokens", .auth = Auth::signed_in, .handler = [&app](Request& r) {
                      return list(app, r);
                    }});
  routes.push_back({.method = "POST",
                    .pattern = "/api/tokens",
                    .auth = Auth::session,
                    .handler = [&app](Request& r) { return issue(app, r); },
                    .body = Body::small});
  routes.push_back({.method = "DELETE",
                    .pattern = "/api/tokens/{id}",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return revoke(app, r); }});
}

}  // namespace dash::daemon
