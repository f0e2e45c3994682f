#include "core/base/principal.hpp"

namespace dash {

Result<void> require_admin(const Principal& who) {
  if (!who.is_admin) return fail(Code::forbidden, "Admin access required");
  return {};
}

Result<void> require(const Principal& who, std::string_view permission) {
  if (!who.may(permission)) return fail(Code::forbidden, "Requires '{}' permission.", permission);
  return {};
}

Result<void> require_sign_in(const Principal& who) {
  if (who.via == Via::token)
    return fail(Code::forbidden, "A personal access token cannot do this: sign in with a password.");
  return {};
}

Principal local_operator() {
  Principal who;
  who.username = "local";
  who.is_admin = true;
  who.via = Via::local;
  return who;
}

}  // namespace dash
