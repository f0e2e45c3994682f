// Many statements at once.
#pragma once
#include <span>

#include "core/db/sql.hpp"

namespace dash::db {

struct Statement {
  std::string_view sql;
  Params params;
};

// A transaction that sends many statements in one round trip.
class PipelinedTransaction : public Transaction {
 public:
  virtual Result<void> exec_pipelined(std::span<const Statement> statements) = 0;
};

// Runs the statements in order, in one round trip where the engine can. At the first error the caller gives up
// the transaction.
Result<void> exec_many(Transaction& tx, std::span<const Statement> statements);

}  // namespace dash::db
