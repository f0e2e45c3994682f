#include "core/db/lazy_write.hpp"

namespace dash::db {

Result<void> write_lazily(Sql& sql, const TransactionFn& body) {
  auto* lazy = dynamic_cast<LazyWriting*>(&sql);
  return lazy ? lazy->write_lazily(body) : sql.write(body);
}

}  // namespace dash::db
