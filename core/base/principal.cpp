#include "core/base/principal.hpp"

namespace dash {

Result<void> require_admin(const Principal& principal) {
  if (!principal.is_admin) return fail(Code::forbidden, "Admin access required");
  return {};
}

Result<void> require_permission(const Principal& principal, std::string_view permission) {
  if (!principal.has_permission(permission))
    return fail(Code::forbidden, "Requires '{}' permission.", permission);
  return {};
}

Result<void> require_sign_in(const Principal& principal) {
  if (principal.via == Via::token)
    return fail(Code::forbidden, "A personal access token cannot do this: sign in with a password.");
  return {};
}

Principal local_operator() {
  Principal principal;
  principal.username = "local";
  principal.is_admin = true;
  principal.via = Via::local;
  return principal;
}

}  // namespace dash
