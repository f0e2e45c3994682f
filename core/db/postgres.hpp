// Opens PostgreSQL with limits of one's own; open_postgres() of sql.hpp has the usual ones.
#pragma once
#include <chrono>

#include "core/db/sql.hpp"

namespace dash::db {

struct PostgresOptions {
  std::size_t readers = 20;                     // connections besides the writer's and that of the version
  std::chrono::milliseconds wait{10'000};       // for a free connection, then Code::busy
  std::chrono::milliseconds statement{60'000};  // each statement but those of each()
  std::chrono::milliseconds settle{20'000};     // to find out what became of a commit
};
// `url` is as libpq reads it: several hosts, sslmode and target_session_attrs included.
Result<std::unique_ptr<Sql>> open_postgres(const std::string& url, const PostgresOptions& options);

}  // namespace dash::db
