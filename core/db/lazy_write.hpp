// Writes that nobody needs once the machine has lost its power: that an agent was heard, a job that its caller waits
// for. They are seen by all at once, like any other, and survive the end of this process; the next durable write,
// which they come before, makes them durable too.
#pragma once
#include "core/db/sql.hpp"

namespace dash::db {

enum class Durability {
  on_return,  // as Sql::write() promises
  later,
};

// A database that can write without waiting for its disk.
class LazyWriting {
 public:
  virtual ~LazyWriting() = default;
  virtual Result<void> write_lazily(const TransactionFn& body) = 0;
};

// As sql.write(), but a loss of power right after it may undo it. Durable at once where the database knows no other way.
Result<void> write_lazily(Sql& sql, const TransactionFn& body);

}  // namespace dash::db
