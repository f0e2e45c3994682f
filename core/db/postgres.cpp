#include "core/db/sql.hpp"

namespace dash::db {

Result<std::unique_ptr<Sql>> open_postgres(const std::string&) {
  return fail(Code::unsupported, "this build stores its data in SQLite only; leave --database away");
}

}  // namespace dash::db
