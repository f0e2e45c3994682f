#include "core/identity/caller.hpp"

namespace dash::identity {

Result<void> confirm_caller(db::Transaction& tx, const Principal& principal) {
  if (principal.via == Via::local) return {};
  constexpr std::string_view kSession =
      R"(SELECT u.is_admin FROM users u JOIN sessions c ON c.username = u.username
         WHERE c.id = $1 AND u.username = $2 AND u.is_active = 1)";
  constexpr std::string_view kToken =
      R"(SELECT u.is_admin FROM users u JOIN tokens c ON c.username = u.username
         WHERE c.id = $1 AND u.username = $2 AND u.is_active = 1 AND c.revoked_at IS NULL)";
  auto rows = TRY(tx.query(principal.via == Via::session ? kSession : kToken,
                           {principal.credential_id, principal.username}));
  if (rows.empty() || (principal.is_admin && !rows[0].flag(0)))
    return fail(Code::unauthenticated, "Your sign-in has ended; sign in again.");
  return {};
}

}  // namespace dash::identity
