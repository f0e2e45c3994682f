#include "core/identity/accounts.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

Result<Response> issue(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  auto body = TRY(json_object(request));
  identity::NewToken wanted;
  wanted.name = TRY(required_string(body, "name"));
  wanted.days = TRY(optional_int(body, "expires_days")).value_or(0);
  wanted.username = TRY(optional_string(body, "username")).value_or(who.username);
  auto issued = TRY(s.accounts.issue_token(who, wanted));
  auto out = identity::to_json(issued.info);
  out["token"] = issued.token.expose();
  return json_response(201, out);
}

Result<Response> list(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  auto out = OrderedJson::array();
  auto username = request.query.get_or("username", who.username);
  for (const auto& token : TRY(s.accounts.list_tokens(who, username)))
    out.push_back(identity::to_json(token));
  return json_response(200, out);
}

Result<Response> revoke(app::Services& s, const Request& request) {
  TRY(s.accounts.revoke_token(request.caller(), request.param("id")));
  return json_response(200, OrderedJson{{"detail", "Token revoked"}});
}

}  // namespace

void add_token_routes(std::vector<Route>& routes, app::Services& s) {
  routes.push_back({.pattern = "/api/tokens", .auth = Auth::signed_in, .handler = [&s](Request& r) {
                      return list(s, r);
                    }});
  routes.push_back({.method = "POST",
                    .pattern = "/api/tokens",
                    .auth = Auth::session,
                    .handler = [&s](Request& r) { return issue(s, r); },
                    .body = Body::small});
  routes.push_back({.method = "DELETE",
                    .pattern = "/api/tokens/{id}",
                    .auth = Auth::signed_in,
                    .handler = [&s](Request& r) { return revoke(s, r); }});
}

}  // namespace dash::daemon
