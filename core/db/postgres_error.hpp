// What goes wrong with PostgreSQL, in the program's own errors.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "core/db/sql.hpp"

namespace dash::db {

inline constexpr std::chrono::seconds kDatabaseRetryAfter{2};

// busy, with a pause: no connection, or none that answers. `detail` goes to the log alone.
Error database_unavailable(std::string detail);

// Of an SQLSTATE. https://www.postgresql.org/docs/15/errcodes-appendix.html
Error error_of_state(std::string_view state);

// libpq would take a text up to its NUL, and so another name than the caller's. Errors: invalid.
Result<void> check_no_nul(const Params& params);

// The hosts of postgres://user:password@one,two/name?… alone.
std::string hosts_of(const std::string& url);

}  // namespace dash::db
