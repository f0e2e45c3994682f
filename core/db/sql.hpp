// The seam to the database. One SQL text serves both engines: parameters are $1, $2, …; types TEXT, BIGINT,
// BLOB; INSERT … ON CONFLICT and RETURNING are common to both. Times are BIGINT microseconds, booleans BIGINT
// 0/1. Thread-safe.
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

// One row of an answer. Out-of-range columns and wrong types are bugs, not input: they assert.
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

// What a transaction's body may do. Lives on one thread at a time.
class Transaction {
 public:
  virtual ~Transaction() = default;
  virtual Result<Rows> query(std::string_view sql, Params params = {}) = 0;
  // Rows changed.
  virtual Result<std::int64_t> exec(std::string_view sql, Params params = {}) = 0;
  // Calls `row` for each row without holding them all; stops at its first error.
  virtual Result<void> each(std::string_view sql, Params params,
                            const std::function<Result<void>(const Row&)>& row) = 0;
  virtual bool is_postgres() const = 0;
};

using TransactionFn = std::function<Result<void>(Transaction&)>;

class Sql {
 public:
  virtual ~Sql() = default;
  // A consistent read; sees everything committed before it began.
  virtual Result<void> read(const TransactionFn& body) = 0;
  // All of `body` or nothing, durable when this returns. Writers are serialised across all processes of the
  // database, so a body may rely on what it reads. Those that wait together are committed together (one
  // fsync); a body that fails undoes only its own work. It may run on another thread.
  virtual Result<void> write(const TransactionFn& body) = 0;
  virtual bool is_postgres() const = 0;
  // A number that moves with every commit, of this process or another, to the tables that
  // schema/008_kept_version.sql names: what was read of them after it last moved still holds (kept.hpp).
  // nullopt where asking for it costs as much as reading.
  virtual Result<std::optional<std::int64_t>> data_version() { return std::optional<std::int64_t>(); }
};

// A write or read whose body gives a value.
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

// Schema steps are the embedded files core/db/schema/NNN_name.sql: numbered, forward only, one text for both
// engines. Brings the schema to the newest step under a lock; refuses a database that is newer than this
// program (Code::conflict).
Result<void> migrate_schema(Sql& sql);
// Only the steps up to `version`, for tests of upgrades.
Result<void> migrate_schema_to(Sql& sql, int version);

Result<std::unique_ptr<Sql>> open_sqlite(const std::string& path);
// `url` is postgres://user:password@host:port/name; errors never repeat its password.
Result<std::unique_ptr<Sql>> open_postgres(const std::string& url);

}  // namespace dash::db
