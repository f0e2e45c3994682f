// Checks that a caller still has its rights when its change is made.
#pragma once
#include "core/base/principal.hpp"
#include "core/db/sql.hpp"

namespace dash::identity {

// Call it inside of the transaction of a change to an account. It checks that the session or token behind
// `principal` still exists, and that the user is as active and as much an admin as when the request came. A
// reset, a disabling or a demotion that was committed first so ends what was under way.
// Code::unauthenticated.
Result<void> confirm_caller(db::Transaction& tx, const Principal& principal);

}  // namespace dash::identity
