#include "core/db/postgres_writer.hpp"

#include <thread>

#include "core/base/log.hpp"
#include "core/crypto/hash.hpp"
#include "core/db/postgres_pool.hpp"

namespace dash::db {
namespace {

// One writer at a time, as with SQLite: the bodies may rely on what they read. The number is "dask"; the schema
// lock is another. The lock is taken by a statement of its own, so that the next one sees what its last holder
// committed.
constexpr std::string_view kBeginLocked = "BEGIN; SELECT pg_advisory_xact_lock(1684108139)";
constexpr std::string_view kHasMarks = "SELECT 1 WHERE to_regclass('commit_marks') IS NOT NULL";
// Far longer than a process tries to find out.
constexpr std::string_view kForgetMarks =
    "DELETE FROM commit_marks WHERE at < extract(epoch FROM now()) - 86400";
constexpr std::chrono::milliseconds kSettleInterval{200};

constexpr std::string_view kNotWritten =
    "the database ended the connection, and nothing was written; try again";
constexpr std::string_view kUnknown =
    "the database did not confirm the change; look whether it was made before you make it again";

}  // namespace

PostgresWriter::PostgresWriter(std::string url, const PostgresOptions& options)
    : url_(std::move(url)), options_(options), process_(crypto::random_hex(8)) {}

Result<void> PostgresWriter::connect() {
  connection_ = TRY(reconnect(url_, options_));
  has_marks_ = !TRY(connection_->script(kHasMarks)).empty();
  // No harm is done when another process does the same, or when this server takes no writes.
  if (has_marks_) std::ignore = connection_->script(kForgetMarks);
  return {};
}

Result<void> PostgresWriter::run_begin() {
  wrote_mark_ = has_marks_;
  auto mark = fmt::format(
      "INSERT INTO commit_marks (process, mark, at) VALUES ('{}', {}, extract(epoch FROM now())::bigint) "
      "ON CONFLICT (process) DO UPDATE SET mark = excluded.mark, at = excluded.at; ",
      process_, ++mark_);
  TRY(connection_->script(fmt::format("{}; {}SAVEPOINT body", kBeginLocked, has_marks_ ? mark : "")));
  return {};
}

Result<Transaction*> PostgresWriter::begin() {
  const bool is_kept = connection_ && connection_->is_usable();
  if (!is_kept) TRY(connect());
  auto begun = run_begin();
  // A restart of the server cut it, or the schema came or went meanwhile.
  if (!begun && is_kept) {
    TRY(connect());
    begun = run_begin();
  }
  if (begun && !has_marks_) has_marks_ = !TRY(connection_->script(kHasMarks)).empty();
  if (begun) return connection_.get();
  connection_.reset();
  return Failure(begun.error());
}

Result<void> PostgresWriter::commit() {
  Error refusal;
  switch (connection_->commit(refusal)) {
    case CommitOutcome::committed:
      return {};
    case CommitOutcome::refused:
      rollback();
      return Failure(std::move(refusal));
    case CommitOutcome::unknown:
      break;
  }
  connection_.reset();
  log::warning("db.commit_cut", {{"process", process_}, {"mark", mark_}});
  return settle();
}

Result<void> PostgresWriter::abandon() {
  Error refusal;
  auto undone = connection_->script("ROLLBACK TO SAVEPOINT body");
  if (undone && connection_->commit(refusal) == CommitOutcome::committed) return {};
  connection_.reset();
  return Failure(busy(kDatabaseRetryAfter, "{}", kNotWritten));
}

void PostgresWriter::rollback() {
  if (!connection_->is_usable() || !connection_->script("ROLLBACK")) connection_.reset();
}

Result<void> PostgresWriter::settle() {
  auto unknown = [] { return Failure(busy(kDatabaseRetryAfter, "{}", kUnknown)); };
  const auto wanted = mark_;
  const auto deadline = std::chrono::steady_clock::now() + options_.settle;
  while (wrote_mark_) {
    auto found = find_out(wanted);
    if (found && *found == Found::not_committed) return Failure(busy(kDatabaseRetryAfter, "{}", kNotWritten));
    if (found) return {};
    connection_.reset();
    if (std::chrono::steady_clock::now() >= deadline) break;
    std::this_thread::sleep_for(kSettleInterval);
  }
  log::error("db.commit_unknown", {{"process", process_}, {"mark", wanted}});
  return unknown();
}

// What is visible here may be missing on the standby that is promoted next. So a commit that was found counts
// only after another one, of a later mark, that waited for the standbys: the log they receive is in order.
Result<PostgresWriter::Found> PostgresWriter::find_out(std::int64_t wanted) {
  connection_ = TRY(reconnect(url_, options_));
  TRY(connection_->script(kBeginLocked));
  auto rows = TRY(connection_->query("SELECT mark FROM commit_marks WHERE process = $1", {process_}));
  if (rows.empty() || rows[0].integer(0) < wanted) {
    rollback();
    return Found::not_committed;
  }
  TRY(connection_->exec("UPDATE commit_marks SET mark = $2 WHERE process = $1", {process_, ++mark_}));
  Error refusal;
  if (connection_->commit(refusal) == CommitOutcome::committed) return Found::committed;
  return fail(Code::busy, "{}", kUnknown);
}

}  // namespace dash::db
