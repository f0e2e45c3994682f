// One statement for many sets of parameters.
#pragma once
#include <span>

#include "core/db/sql.hpp"

namespace dash::db {

// A transaction that sends many statements in one round trip.
class PipelinedTransaction : public Transaction {
 public:
  virtual Result<void> exec_pipelined(std::string_view sql, std::span<const Params> rows) = 0;
};

// Runs `sql` for each set of parameters, in order, in one round trip where the engine can. At the first error
// the caller gives up the transaction.
Result<void> exec_many(Transaction& tx, std::string_view sql, std::span<const Params> rows);

}  // namespace dash::db
