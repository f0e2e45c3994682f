#include "daemon/routes/auth.hpp"

#include <strings.h>

#include "core/identity/sessions.hpp"
#include "core/identity/tokens.hpp"

namespace dash::daemon {
namespace {

using Caller = std::optional<Principal>;

constexpr std::string_view kBearer = "Bearer ";

Principal of_request(Principal who, const Request& request) {
  who.address = request.client;
  who.request_id = request.request_id;
  return who;
}

// A session or a token. Code::unauthenticated otherwise.
Result<Principal> signed_in(app::Services& services, const Request& request) {
  auto token = bearer(request);
  if (!token) return fail(Code::unauthenticated, "Not authenticated");
  if (identity::looks_like_pat(*token)) return of_request(TRY(services.tokens.authenticate(*token)), request);
  auto who = services.sessions.authenticate(*token);
  if (!who && who.error().code == Code::unauthenticated)
    return fail(Code::unauthenticated, "Could not validate credentials");
  return of_request(TRY(std::move(who)), request);
}

// The setup routes know sessions alone: a personal access token is refused like any other text that is none.
Result<Caller> setup_caller(app::Services& services, const Request& request) {
  auto header = request.header("Authorization");
  if (!header || !header->starts_with(kBearer)) return Caller();
  auto who = TRY(services.sessions.authenticate(std::string_view(*header).substr(kBearer.size())));
  return Caller(of_request(std::move(who), request));
}

Result<Caller> setup_admin(app::Services& services, const Request& request) {
  auto who = TRY(setup_caller(services, request));
  if (!who) return fail(Code::unauthenticated, "Authentication required");
  TRY(require_admin(*who));
  return who;
}

Result<Caller> allowed(app::Services& services, Auth auth, const Request& request) {
  auto who = TRY(signed_in(services, request));
  bool needs_session = auth.rule() == Auth::session || auth.rule() == Auth::admin_session;
  if (needs_session) TRY(require_sign_in(who));
  if (auth.rule() == Auth::admin || auth.rule() == Auth::admin_session) TRY(require_admin(who));
  return Caller(std::move(who));
}

}  // namespace

std::optional<std::string> bearer(const Request& request) {
  auto header = request.header("Authorization");
  if (!header || header->size() < kBearer.size() ||
      ::strncasecmp(header->data(), kBearer.data(), kBearer.size()) != 0)
    return std::nullopt;
  return header->substr(kBearer.size());
}

Authenticate make_authenticate(app::Services& services) {
  return [&services](Auth auth, const Request& request) -> Result<Caller> {
    switch (auth.rule()) {
      case Auth::anybody:
      case Auth::login:
        return Caller();
      case Auth::visitor:
        return setup_caller(services, request).value_or(Caller());
      case Auth::setup:
      case Auth::claim:
        return setup_caller(services, request);
      case Auth::setup_admin:
        return setup_admin(services, request);
      default:
        return allowed(services, auth, request);
    }
  };
}

}  // namespace dash::daemon
