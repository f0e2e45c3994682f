#include "core/db/postgres.hpp"

#include "core/db/group_commit.hpp"
#include "core/db/postgres_pool.hpp"
#include "core/db/postgres_writer.hpp"
#include "core/db/shared_read.hpp"

namespace dash::db {
namespace {

constexpr std::string_view kBeginRead = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
// 0: no trigger has moved it, so that it says nothing.
constexpr std::string_view kVersion = "SELECT number FROM kept_version WHERE number <> 0";

class PostgresSql final : public Sql {
 public:
  PostgresSql(const std::string& url, const PostgresOptions& options)
      : url_(url), options_(options), pool_(url, options), writer_(url, options) {}

  Result<void> read(const TransactionFn& body) override {
    auto connection = TRY(pool_.acquire(kBeginRead));
    auto result = run_catching(body, *connection);
    // After a failed statement COMMIT would complain; ROLLBACK ends a read as well. Nobody waits for it.
    connection->script_later("ROLLBACK");
    return result;
  }

  Result<void> write(const TransactionFn& body) override { return commits_.write(body); }
  bool is_postgres() const override { return true; }
  Result<std::optional<std::int64_t>> data_version() override { return version_.get(); }

 private:
  // On a connection of its own, so that it waits for no other read.
  Result<std::optional<std::int64_t>> read_version() {
    for (;;) {
      const bool is_kept = version_reader_ && version_reader_->is_usable();
      if (!is_kept) version_reader_ = TRY(reconnect(url_, options_));
      auto rows = version_reader_->query(kVersion);
      if (rows) return rows->empty() ? std::nullopt : std::optional(rows->at(0).integer(0));
      if (!is_kept || version_reader_->is_usable()) return Failure(rows.error());
    }
  }

  const std::string url_;
  const PostgresOptions options_;
  PostgresPool pool_;
  PostgresWriter writer_;
  GroupCommit commits_{writer_};
  std::unique_ptr<PostgresConnection> version_reader_;
  SharedRead<std::optional<std::int64_t>> version_{[this] { return read_version(); }};
};

}  // namespace

Result<std::unique_ptr<Sql>> open_postgres(const std::string& url, const PostgresOptions& options) {
  if (!url.starts_with("postgres://") && !url.starts_with("postgresql://"))
    return fail(Code::usage, "the address of a database is written postgres://USER:PASSWORD@HOST/NAME");
  // An address or a password that is wrong is an error of its own here, not "try again".
  TRY(PostgresConnection::open(url, options.statement));
  return std::unique_ptr<Sql>(new PostgresSql(url, options));
}

Result<std::unique_ptr<Sql>> open_postgres(const std::string& url) {
  return open_postgres(url, PostgresOptions());
}

}  // namespace dash::db
