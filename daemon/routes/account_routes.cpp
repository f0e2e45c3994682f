#include "core/base/text.hpp"
#include "core/identity/accounts.hpp"
#include "core/identity/sessions.hpp"
#include "daemon/routes/auth.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

// A login form is a name and a password.
constexpr std::uint64_t kLoginForm = 8u << 10;

// Any other type counts as an empty form, as OAuth2's password form demands (RFC 6749 §4.3.2).
Result<Fields> login_form(const Request& request) {
  auto type = request.header("Content-Type").value_or("");
  if (!lower(type).starts_with("application/x-www-form-urlencoded")) return Fields();
  return form_body(request);
}

Result<Response> login(app::Application& app, const Request& request) {
  auto form = TRY(login_form(request));
  std::vector<FieldError> missing;
  for (auto name : {"username", "password"})
    if (!form.has(name)) missing.push_back({"missing", {name}, "Field required", nullptr});
  if (!missing.empty()) return Failure(validation_error(missing));
  auto done = TRY(app.accounts.sign_in(
      {*form.get("username"), Secret(*form.get("password")), request.client, request.request_id}));
  return json_response(200, OrderedJson{{"access_token", done.access_token},
                                        {"token_type", "bearer"},
                                        {"username", done.username},
                                        {"workgroups", done.workgroups}});
}

Result<Response> logout(app::Application& app, const Request& request) {
  TRY(app.sessions.logout(bearer(request).value_or("")));
  return json_response(200, OrderedJson{{"ok", true}});
}

Result<Response> me(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto user = TRY(app.directory.find(principal.username));
  if (!user) return fail(Code::unauthenticated, "Could not validate credentials");
  return json_response(200, identity::to_json(*user));
}

}  // namespace

void add_account_routes(std::vector<Route>& routes, app::Application& app) {
  routes.push_back({.method = "POST",
                    .pattern = "/api/auth/login",
                    .auth = Auth::login,
                    .handler = [&app](Request& r) { return login(app, r); },
                    .body = Body::small,
                    .max_body = kLoginForm,
                    .pool = Pool::login});
  routes.push_back({.method = "POST",
                    .pattern = "/api/auth/logout",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return logout(app, r); },
                    .body = Body::small});
  routes.push_back({.pattern = "/api/auth/me", .auth = Auth::signed_in, .handler = [&app](Request& r) {
                      return me(app, r);
                    }});
}

}  // namespace dash::daemon
