#include "daemon/auth.hpp"

#include <strings.h>

#include "core/identity/sessions.hpp"
#include "core/identity/tokens.hpp"

namespace dash::daemon {
namespace {

constexpr std::string_view kBearer = "Bearer ";

identity::Principal of_request(identity::Principal who, const Request& request) {
  who.address = request.client;
  who.request_id = request.request_id;
  return who;
}

}  // namespace

std::optional<std::string> bearer(const Request& request) {
  auto header = request.header("Authorization");
  if (!header || header->size() < kBearer.size() ||
      ::strncasecmp(header->data(), kBearer.data(), kBearer.size()) != 0)
    return std::nullopt;
  return header->substr(kBearer.size());
}

Result<identity::Principal> signed_in(app::Services& services, const Request& request) {
  auto token = bearer(request);
  if (!token) return fail(Code::unauthenticated, "Not authenticated");
  if (identity::looks_like_pat(*token)) return of_request(TRY(services.tokens.authenticate(*token)), request);
  auto who = services.sessions.authenticate(*token);
  if (!who && who.error().code == Code::unauthenticated)
    return fail(Code::unauthenticated, "Could not validate credentials");
  return of_request(TRY(std::move(who)), request);
}

Result<identity::Principal> admin(app::Services& services, const Request& request) {
  auto who = TRY(signed_in(services, request));
  TRY(identity::require_admin(who));
  return who;
}

Result<std::optional<identity::Principal>> setup_caller(app::Services& services, const Request& request) {
  auto header = request.header("Authorization");
  if (!header || !header->starts_with(kBearer)) return std::optional<identity::Principal>();
  auto who = TRY(services.sessions.authenticate(std::string_view(*header).substr(kBearer.size())));
  return std::optional(of_request(std::move(who), request));
}

}  // namespace dash::daemon
