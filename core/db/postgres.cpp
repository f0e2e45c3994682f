#include <libpq-fe.h>

#include <array>
#include <cstring>
#include <mutex>

#include "core/db/group_commit.hpp"
#include "core/net/http/http_client.hpp"

namespace dash::db {
namespace {

// Types of PostgreSQL's catalogue (src/include/catalog/pg_type.dat), stable since 8.0.
constexpr Oid kBytea = 17;
constexpr Oid kInt8 = 20;
constexpr Oid kInt2 = 21;
constexpr Oid kInt4 = 23;
constexpr Oid kText = 25;
constexpr Oid kNumeric = 1700;

constexpr std::size_t kMaxIdleConnections = 8;
// One writer at a time, as with SQLite: the bodies may rely on what they read.
constexpr std::string_view kBeginWrite = "BEGIN";
// The number is "dask"; the schema lock is another.
constexpr std::string_view kLockWriters = "SELECT pg_advisory_xact_lock(1684108139)";

constexpr std::string_view kUnavailable = "the database does not answer; try again shortly";
constexpr std::chrono::seconds kRetryAfter(2);

struct ClearResult {
  void operator()(PGresult* r) const { PQclear(r); }
};
struct FinishConnection {
  void operator()(PGconn* c) const { PQfinish(c); }
};
using PgResult = std::unique_ptr<PGresult, ClearResult>;
using PgHandle = std::unique_ptr<PGconn, FinishConnection>;

Failure postgres_error(PGconn* c, const PGresult* r, std::string_view sql) {
  const char* field = r ? PQresultErrorField(r, PG_DIAG_SQLSTATE) : nullptr;
  std::string_view state = field ? field : "";
  auto code = Code::internal;
  std::string message = "the database failed; the log has the reason";
  if (PQstatus(c) != CONNECTION_OK || state.starts_with("08") || state.starts_with("57P")) {
    code = Code::busy;
    message = kUnavailable;
  } else if (state.starts_with("23")) {
    code = Code::conflict;
    message = "it exists already";
  } else if (state == "53100") {
    code = Code::busy;
    message = "the database's disk is full; nothing was written";
  } else if (state == "25006" || state == "42501") {
    code = Code::busy;
    message = "the database takes no writes; check its mode and the rights of its user";
  }
  auto retry_after = message == kUnavailable ? std::optional(kRetryAfter) : std::nullopt;
  return Failure(Error{.code = code,
                       .message = std::move(message),
                       .detail = fmt::format("postgres {}: {} in: {}", state, PQerrorMessage(c), sql),
                       .retry_after = retry_after});
}

// libpq would take the text up to the NUL, and so another name than the caller's.
Result<void> check_no_nul(const Params& params) {
  for (const auto& value : params)
    if (auto* text = std::get_if<std::string>(&value); text && text->find('\0') != text->npos)
      return fail(Code::invalid,
                  "a text holds a NUL character, which the database cannot keep; leave it out");
  return {};
}

// A statement's parameters in the form of libpq. `texts` owns the numbers during the call.
struct BoundParams {
  explicit BoundParams(const Params& params) {
    texts.reserve(params.size());
    for (const auto& value : params) add(value);
  }
  void add(const Value& value) {
    auto put = [&](Oid type, const char* data, std::size_t size, int format) {
      types.push_back(type);
      values.push_back(data);
      lengths.push_back(static_cast<int>(size));
      formats.push_back(format);
    };
    if (std::holds_alternative<std::nullptr_t>(value)) return put(0, nullptr, 0, 0);
    if (auto* b = std::get_if<Blob>(&value)) return put(kBytea, b->bytes.data(), b->bytes.size(), 1);
    if (auto* t = std::get_if<std::string>(&value)) return put(kText, t->c_str(), t->size(), 0);
    texts.push_back(std::to_string(std::get<std::int64_t>(value)));
    put(kInt8, texts.back().c_str(), texts.back().size(), 0);
  }
  std::vector<std::string> texts;
  std::vector<Oid> types;
  std::vector<const char*> values;
  std::vector<int> lengths;
  std::vector<int> formats;
};

Value field_of(const PGresult* r, int row, int column) {
  if (PQgetisnull(r, row, column)) return nullptr;
  std::string_view text(PQgetvalue(r, row, column), static_cast<std::size_t>(PQgetlength(r, row, column)));
  switch (PQftype(r, column)) {
    case kInt2:
    case kInt4:
    case kInt8:
    case kNumeric:
      return static_cast<std::int64_t>(std::strtoll(std::string(text).c_str(), nullptr, 10));
    case kBytea: {
      std::size_t size = 0;
      std::unique_ptr<unsigned char, decltype(&PQfreemem)> bytes(
          PQunescapeBytea(reinterpret_cast<const unsigned char*>(text.data()), &size), PQfreemem);
      return Blob{std::string(reinterpret_cast<char*>(bytes.get()), size)};
    }
    default:
      return std::string(text);
  }
}

Row row_of(const PGresult* r, int row) {
  std::vector<Value> values;
  for (int i = 0; i < PQnfields(r); ++i) values.push_back(field_of(r, row, i));
  return Row(std::move(values));
}

class PostgresConnection final : public Transaction {
 public:
  static Result<std::unique_ptr<PostgresConnection>> open(const std::string& url) {
    PgHandle handle(PQconnectdb(url.c_str()));
    if (PQstatus(handle.get()) != CONNECTION_OK) {
      std::string_view cause = PQerrorMessage(handle.get());  // several lines; the first one is enough
      return fail(Code::unreachable, "cannot connect to the database {}: {}", net::origin_of(url),
                  cause.substr(0, cause.find('\n')));
    }
    PQsetNoticeProcessor(
        handle.get(), [](void*, const char*) {}, nullptr);
    auto self = std::unique_ptr<PostgresConnection>(new PostgresConnection(std::move(handle)));
    // An unflushed tail of the log would mean answers before durability.
    TRY(self->exec("SET synchronous_commit TO on"));
    return self;
  }

  bool is_usable() const { return PQstatus(handle_.get()) == CONNECTION_OK; }

  Result<Rows> query(std::string_view sql, Params params = {}) override {
    auto result = TRY(run(sql, params));
    Rows rows;
    for (int i = 0; i < PQntuples(result.get()); ++i) rows.push_back(row_of(result.get(), i));
    return rows;
  }

  Result<std::int64_t> exec(std::string_view sql, Params params = {}) override {
    auto result = TRY(run(sql, params));
    return static_cast<std::int64_t>(std::strtoll(PQcmdTuples(result.get()), nullptr, 10));
  }

  // Single-row mode: libpq holds one row, whatever the size of the result.
  Result<void> each(std::string_view sql, Params params,
                    const std::function<Result<void>(const Row&)>& row) override {
    TRY(check_no_nul(params));
    BoundParams bound(params);
    if (!PQsendQueryParams(handle_.get(), std::string(sql).c_str(), static_cast<int>(params.size()),
                           bound.types.data(), bound.values.data(), bound.lengths.data(),
                           bound.formats.data(), 0) ||
        !PQsetSingleRowMode(handle_.get()))
      return postgres_error(handle_.get(), nullptr, sql);
    Result<void> outcome;
    while (PgResult result{PQgetResult(handle_.get())}) {
      auto status = PQresultStatus(result.get());
      if (!outcome) continue;  // the rest must be read before the connection can be used again
      if (status == PGRES_SINGLE_TUPLE)
        outcome = row(row_of(result.get(), 0));
      else if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        outcome = postgres_error(handle_.get(), result.get(), sql);
    }
    return outcome;
  }

  bool is_postgres() const override { return true; }

 private:
  explicit PostgresConnection(PgHandle handle) : handle_(std::move(handle)) {}

  Result<PgResult> run(std::string_view sql, const Params& params) {
    TRY(check_no_nul(params));
    BoundParams bound(params);
    PgResult result(PQexecParams(handle_.get(), std::string(sql).c_str(), static_cast<int>(params.size()),
                                 bound.types.data(), bound.values.data(), bound.lengths.data(),
                                 bound.formats.data(), 0));
    auto status = PQresultStatus(result.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
      return postgres_error(handle_.get(), result.get(), sql);
    // COMMIT of a failed transaction returns ROLLBACK without an error.
    if (sql == "COMMIT" && std::string_view(PQcmdStatus(result.get())) != "COMMIT")
      return fail(Code::internal, "the database undid the change");
    return result;
  }

  PgHandle handle_;
};

class PostgresSql final : public Sql {
 public:
  PostgresSql(std::string url, std::unique_ptr<PostgresConnection> first) : url_(std::move(url)) {
    idle_.push_back(std::move(first));
  }

  Result<void> read(const TransactionFn& body) override {
    auto connection = TRY(acquire());
    TRY(connection->exec("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
    auto result = run_catching(body, *connection);
    // After a failed statement COMMIT would complain; ROLLBACK ends a read as well.
    if (connection->exec("ROLLBACK")) release(std::move(connection));
    return result;
  }

  Result<void> write(const TransactionFn& body) override { return commits_.write(body); }
  bool is_postgres() const override { return true; }

 private:
  // A connection that a restart of the server cut is dropped, and a new one is tried once.
  Result<std::unique_ptr<PostgresConnection>> acquire() {
    while (auto connection = pop_idle())
      if (connection->is_usable() && connection->exec("SELECT 1")) return connection;
    return reconnect();
  }

  // While requests are served, a lost database is a reason to try again, and its address is not public.
  Result<std::unique_ptr<PostgresConnection>> reconnect() {
    auto connection = PostgresConnection::open(url_);
    if (connection) return connection;
    auto error = busy(kRetryAfter, kUnavailable);
    error.detail = connection.error().message + ": " + connection.error().detail;
    return Failure(std::move(error));
  }

  std::unique_ptr<PostgresConnection> pop_idle() {
    std::lock_guard lock(mutex_);
    if (idle_.empty()) return nullptr;
    auto connection = std::move(idle_.back());
    idle_.pop_back();
    return connection;
  }

  void release(std::unique_ptr<PostgresConnection> connection) {
    std::lock_guard lock(mutex_);
    if (idle_.size() < kMaxIdleConnections) idle_.push_back(std::move(connection));
  }

  Result<Transaction*> begin_write() {
    if (!writer_ || !writer_->is_usable() || !writer_->exec("SELECT 1")) writer_ = TRY(reconnect());
    TRY(writer_->exec(kBeginWrite));
    if (auto locked = writer_->query(kLockWriters); !locked) {
      writer_.reset();
      return Failure(locked.error());
    }
    return writer_.get();
  }

  std::string url_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<PostgresConnection>> idle_;
  std::unique_ptr<PostgresConnection> writer_;  // used by the leader only
  GroupCommit commits_{[this] { return begin_write(); }};
};

}  // namespace

Result<std::unique_ptr<Sql>> open_postgres(const std::string& url) {
  if (!url.starts_with("postgres://") && !url.starts_with("postgresql://"))
    return fail(Code::usage, "the address of a database is written postgres://USER:PASSWORD@HOST/NAME");
  auto first = TRY(PostgresConnection::open(url));
  return std::unique_ptr<Sql>(new PostgresSql(url, std::move(first)));
}

}  // namespace dash::db
