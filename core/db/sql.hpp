// The interface to the database. One SQL text serves both engines: parameters are $1, $2, …; types TEXT,
// BIGINT, BLOB; INSERT … ON CONFLICT and RETURNING are common to both. Times are BIGINT microseconds,
// booleans BIGINT 0/1. Thread-safe.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/error.hpp"

namespace dash::db {

struct Blob {
  std::string bytes;
};
using Value = std::variant<std::nullptr_t, std::int64_t, std::string, Blob>;

// One row of a result. Out-of-range columns and wrong types are bugs, not input: they assert.
class Row {
 public:
  explicit Row(std::vector<Value> values) : values_(std::move(values)) {}
  bool is_null(std::size_t i) const { return std::holds_alternative<std::nullptr_t>(values_.at(i)); }
  std::int64_t integer(std::size_t i) const { return std::get<std::int64_t>(values_.at(i)); }
  bool flag(std::size_t i) const { return integer(i) != 0; }
  const std::string& text(std::size_t i) const { return std::get<std::string>(values_.at(i)); }
  const std::string& blob(std::size_t i) const { return std::get<Blob>(values_.at(i)).bytes; }
  std::string text_or(std::size_t i, std::string_view fallback) const {
    return is_null(i) ? std::string(fallback) : text(i);
  }
  std::int64_t integer_or(std::size_t i, std::int64_t fallback) const {
    return is_null(i) ? fallback : integer(i);
  }

 private:
  std::vector<Value> values_;
};
using Rows = std::vector<Row>;
using Params = std::vector<Value>;

// The operations of a transaction's body. One thread at a time uses it.
class Transaction {
 public:
  virtual ~Transaction() = default;
  virtual Result<Rows> query(std::string_view sql, Params params = {}) = 0;
  // Returns the number of rows changed.
  virtual Result<std::int64_t> exec(std::string_view sql, Params params = {}) = 0;
  // Calls `row` for each row without holding them all. Stops at its first error.
  virtual Result<void> each(std::string_view sql, Params params,
                            const std::function<Result<void>(const Row&)>& row) = 0;
  virtual bool is_postgres() const = 0;
};

using TransactionFn = std::function<Result<void>(Transaction&)>;

class Sql {
 public:
  virtual ~Sql() = default;
  // Runs `body` on a consistent snapshot, with everything that was committed before it began.
  virtual Result<void> read(const TransactionFn& body) = 0;
  // Commits all of `body` or nothing; durable when this returns. Writers are serialised across all processes
  // of the database, so a body may rely on what it reads. Writers that wait together are committed together
  // (one fsync). A body that fails undoes only its own work. It runs once, perhaps on another thread.
  virtual Result<void> write(const TransactionFn& body) = 0;
  virtual bool is_postgres() const = 0;
  // Returns a number that changes with every commit, of this process or another, to the tables that
  // schema/008_kept_version.sql names. While it is unchanged, what was read of them is valid
  // (versioned_cache.hpp). Returns nullopt where the check costs as much as reading.
  virtual Result<std::optional<std::int64_t>> data_version() { return std::optional<std::int64_t>(); }
};

// A read or a write whose body returns a value.
template <class T>
Result<T> read(Sql& sql, const std::function<Result<T>(Transaction&)>& body) {
  std::optional<T> value;
  TRY(sql.read([&](Transaction& tx) -> Result<void> {
    value = TRY(body(tx));
    return {};
  }));
  return *std::move(value);
}
template <class T>
Result<T> write(Sql& sql, const std::function<Result<T>(Transaction&)>& body) {
  std::optional<T> value;
  TRY(sql.write([&](Transaction& tx) -> Result<void> {
    value = TRY(body(tx));
    return {};
  }));
  return *std::move(value);
}

// Brings the schema to the newest step under a lock. The steps are the embedded files
// core/db/schema/NNN_name.sql: numbered, forward only, one text for both engines. A database that is newer
// than this program is refused (Code::conflict).
Result<void> migrate_schema(Sql& sql);
// Runs only the steps up to `version`, for tests of upgrades.
Result<void> migrate_schema_to(Sql& sql, int version);

Result<std::unique_ptr<Sql>> open_sqlite(const std::string& path);
// Connects to `url`, postgres://user:password@host:port/name. Errors never repeat its password.
Result<std::unique_ptr<Sql>> open_postgres(const std::string& url);

}  // namespace dash::db
