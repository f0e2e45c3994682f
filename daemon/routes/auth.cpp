#include "daemon/routes/auth.hpp"

#include <strings.h>

#include <algorithm>

#include "core/identity/sessions.hpp"
#include "core/identity/tokens.hpp"

namespace dash::daemon {
namespace {

using Caller = std::optional<Principal>;

constexpr std::string_view kBearer = "Bearer ";

Principal with_request(Principal principal, const Request& request) {
  principal.address = request.client;
  principal.request_id = request.request_id;
  return principal;
}

// Accepts a session or a token. Code::unauthenticated otherwise.
Result<Principal> authenticate_token(app::Application& app, const Request& request) {
  auto token = bearer(request);
  if (!token) return fail(Code::unauthenticated, "Not authenticated");
  if (identity::is_personal_access_token(*token))
    return with_request(TRY(app.tokens.authenticate(*token)), request);
  auto principal = app.sessions.authenticate(*token);
  if (!principal && principal.error().code == Code::unauthenticated)
    return fail(Code::unauthenticated, "Could not validate credentials");
  return with_request(TRY(std::move(principal)), request);
}

// The setup routes accept sessions alone: a personal access token is refused like any other text.
Result<Caller> find_setup_caller(app::Application& app, const Request& request) {
  auto token = bearer(request);
  if (!token) return Caller();
  auto principal = TRY(app.sessions.authenticate(*token));
  return Caller(with_request(std::move(principal), request));
}

Result<Caller> require_setup_admin(app::Application& app, const Request& request) {
  auto principal = TRY(find_setup_caller(app, request));
  if (!principal) return fail(Code::unauthenticated, "Authentication required");
  TRY(require_admin(*principal));
  return principal;
}

Result<Caller> authorize(app::Application& app, Auth auth, const Request& request) {
  auto principal = TRY(authenticate_token(app, request));
  bool needs_session = auth.rule() == Auth::session || auth.rule() == Auth::admin_session;
  if (needs_session) TRY(require_sign_in(principal));
  if (auth.rule() == Auth::admin || auth.rule() == Auth::admin_session) TRY(require_admin(principal));
  return Caller(std::move(principal));
}

}  // namespace

std::optional<std::string> bearer(const Request& request) {
  auto header = request.header("Authorization");
  if (!header || header->size() < kBearer.size() ||
      ::strncasecmp(header->data(), kBearer.data(), kBearer.size()) != 0)
    return std::nullopt;
  // RFC 9110 §11.4: one or more spaces come before the token.
  return header->substr(std::min(header->find_first_not_of(' ', kBearer.size()), header->size()));
}

Authenticate make_authenticate(app::Application& app) {
  return [&app](Auth auth, const Request& request) -> Result<Caller> {
    switch (auth.rule()) {
      case Auth::anybody:
      case Auth::login:
      case Auth::agent:
        return Caller();
      case Auth::visitor:
        return find_setup_caller(app, request).value_or(Caller());
      case Auth::setup:
      case Auth::claim:
        return find_setup_caller(app, request);
      case Auth::setup_admin:
        return require_setup_admin(app, request);
      default:
        return authorize(app, auth, request);
    }
  };
}

}  // namespace dash::daemon
