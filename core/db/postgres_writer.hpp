// The write side on PostgreSQL. Each transaction writes the mark of this process, a number that grows, into the
// table commit_marks. When a connection is cut during a COMMIT, the mark shows whether it was made: not the
// transaction id, which a standby that was promoted may have given to another transaction.
#pragma once
#include "core/db/group_commit.hpp"
#include "core/db/postgres.hpp"
#include "core/db/postgres_connection.hpp"

namespace dash::db {

class PostgresWriter final : public Writer {
 public:
  PostgresWriter(std::string url, const PostgresOptions& options);
  Result<Transaction*> begin() override;
  Result<void> commit() override;
  Result<void> abandon() override;
  void rollback() override;

 private:
  enum class Found { committed, not_committed };
  Result<void> connect();
  Result<void> run_begin();
  // Finds out what became of the transaction with the mark mark_.
  Result<void> settle();
  // One attempt: takes the writers' lock, which the cut transaction holds until it has ended, and reads.
  Result<Found> find_out(std::int64_t wanted);

  const std::string url_;
  const PostgresOptions options_;
  const std::string process_;
  std::int64_t mark_ = 0;
  bool has_marks_ = false;   // the table exists: it does not before the schema
  bool wrote_mark_ = false;  // this transaction did
  std::unique_ptr<PostgresConnection> connection_;
};

}  // namespace dash::db
