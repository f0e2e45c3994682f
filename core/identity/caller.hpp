// Whether who asks may still ask when his change is made.
#pragma once
#include "core/base/principal.hpp"
#include "core/db/sql.hpp"

namespace dash::identity {

// Inside of the transaction of a change to an account: the session or token behind `who` still stands, and he
// is as active and as much an admin as when the request came. So a reset, a disabling or a demotion that was
// committed first ends what was under way. Code::unauthenticated.
Result<void> confirm_caller(db::Transaction& tx, const Principal& principal);

}  // namespace dash::identity
