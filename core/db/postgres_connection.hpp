// One connection to PostgreSQL. The only file that knows libpq is postgres_connection.cpp. Every call has a
// deadline of its own, because a server that was stopped, or that waits for a standby, never answers.
#pragma once
#include <map>
#include <vector>

#include "core/db/exec_many.hpp"
#include "core/db/postgres_error.hpp"

namespace dash::db {

// What became of a COMMIT.
enum class CommitOutcome { committed, refused, unknown };

class PostgresConnection final : public PipelinedTransaction {
 public:
  // Code::unreachable with the first line of the cause, and never the password.
  static Result<std::unique_ptr<PostgresConnection>> open(const std::string& url,
                                                          std::chrono::milliseconds statement_timeout);
  ~PostgresConnection() override;
  PostgresConnection(const PostgresConnection&) = delete;
  PostgresConnection& operator=(const PostgresConnection&) = delete;

  bool is_usable() const;

  // Sends `text`, statements without parameters, in one round trip. Returns the rows of the last one with rows.
  Result<Rows> script(std::string_view text);
  // The same without waiting; the next call takes the answer.
  void script_later(std::string_view text);
  // Commits, waiting for the standbys that the server waits for. Unknown: the connection was cut, nothing came
  // in time, or the server gave up its wait (it says so in a warning, and reports success).
  CommitOutcome commit(Error& refusal);

  Result<Rows> query(std::string_view sql, Params params = {}) override;
  Result<std::int64_t> exec(std::string_view sql, Params params = {}) override;
  // Single-row mode: libpq holds one row, whatever the size of the result. The statement has no time limit.
  Result<void> each(std::string_view sql, Params params,
                    const std::function<Result<void>(const Row&)>& row) override;
  Result<void> exec_pipelined(std::span<const Statement> statements) override;
  bool is_postgres() const override { return true; }

 private:
  struct Wire;  // libpq's handle
  explicit PostgresConnection(std::unique_ptr<Wire> wire);
  std::unique_ptr<Wire> wire_;
};

}  // namespace dash::db
