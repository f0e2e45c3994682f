#include "core/db/postgres_connection.hpp"

#include <libpq-fe.h>
#include <poll.h>

#include <cerrno>
#include <unordered_map>

#include "core/base/before_wait.hpp"
#include "core/base/text.hpp"

namespace dash::db {
namespace {

using Steady = std::chrono::steady_clock;

// Types of PostgreSQL's catalogue (src/include/catalog/pg_type.dat), stable since 8.0.
constexpr Oid kBytea = 17;
constexpr Oid kInt8 = 20;
constexpr Oid kInt2 = 21;
constexpr Oid kInt4 = 23;
constexpr Oid kText = 25;
constexpr Oid kNumeric = 1700;

// A statement that the server does not end by itself is given up somewhat later than its limit there.
constexpr std::chrono::milliseconds kGrace{5'000};
// A standby that is gone holds a commit up for ever.
constexpr std::chrono::milliseconds kCommitTimeout{30'000};
// Rows of each() may come from a sort of the whole table.
constexpr std::chrono::minutes kFirstRowTimeout{10};
constexpr std::size_t kMaxPrepared = 256;
// Of exec_many(): what the server answers before the last is sent must fit into the socket's buffers.
constexpr std::size_t kMaxPipelined = 64;

// Later words win: the URL's own values replace those before it.
constexpr const char* kKeywords[] = {"connect_timeout",  "tcp_user_timeout", "keepalives_idle",
                                     "application_name", "dbname",           nullptr};

}  // namespace

// Not in the unnamed namespace: a member of a class of the header has this type.
struct FinishConnection {
  void operator()(PGconn* c) const { PQfinish(c); }
};
using PgHandle = std::unique_ptr<PGconn, FinishConnection>;

namespace {

struct ClearResult {
  void operator()(PGresult* r) const { PQclear(r); }
};
using PgResult = std::unique_ptr<PGresult, ClearResult>;

std::string_view state_of(const PGresult* r) {
  const char* field = r ? PQresultErrorField(r, PG_DIAG_SQLSTATE) : nullptr;
  return field ? field : "";
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
  int size() const { return static_cast<int>(values.size()); }
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

Rows rows_of(const PGresult* r) {
  Rows rows;
  for (int i = 0; i < PQntuples(r); ++i) rows.push_back(row_of(r, i));
  return rows;
}

bool is_success(const PGresult* r) {
  auto status = PQresultStatus(r);
  return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_SINGLE_TUPLE;
}

// Only these are worth a plan that is kept.
bool is_repeated(std::string_view sql) {
  for (std::string_view word : {"SELECT ", "INSERT ", "UPDATE ", "DELETE ", "WITH "})
    if (sql.starts_with(word)) return true;
  return false;
}

// The first line of libpq's message, which has several.
std::string first_line(const char* text) {
  std::string_view all(text);
  return std::string(all.substr(0, all.find('\n')));
}

}  // namespace

struct PostgresConnection::Wire {
  PgHandle handle;
  std::chrono::milliseconds statement_timeout;
  bool is_broken = false;  // in the middle of an answer that nobody waits for
  bool has_answer_to_come = false;
  bool has_warned = false;  // the server sent a warning since this was set to false
  std::unordered_map<std::string, std::string> prepared;  // text and types → name

  PGconn* get() const { return handle.get(); }
  bool is_usable() const { return !is_broken && PQstatus(get()) == CONNECTION_OK; }
  std::chrono::milliseconds answer_timeout() const { return statement_timeout + kGrace; }

  Error error(const PGresult* r, std::string_view sql) {
    auto state = state_of(r);
    // A connection that is given up for an earlier answer still says what this one means.
    auto out = PQstatus(get()) == CONNECTION_OK ? error_of_state(state) : database_unavailable("");
    out.detail = fmt::format("postgres {}: {} in: {}", state, PQerrorMessage(get()), sql);
    // Another server may have become the one that takes writes; and a plan may be of a schema that is gone.
    if (state == "25006" || state == "0A000") is_broken = true;
    if (state == "0A000") out = database_unavailable(std::move(out.detail));
    return out;
  }

  Result<void> wait_for_answer(Steady::time_point deadline) {
    for (;;) {
      int flushed = PQflush(get());
      if (flushed < 0) return Failure(database_unavailable(PQerrorMessage(get())));
      if (flushed == 0 && !PQisBusy(get())) return {};
      auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Steady::now()).count();
      before_wait();
      pollfd fd{PQsocket(get()), static_cast<short>(POLLIN | (flushed > 0 ? POLLOUT : 0)), 0};
      int ready = left > 0 ? ::poll(&fd, 1, static_cast<int>(std::min<long>(left, 60'000))) : 0;
      if (ready < 0 && errno == EINTR) continue;
      if (ready < 0 || (ready == 0 && left <= 0)) {
        is_broken = true;
        return Failure(database_unavailable("postgres: no answer in time"));
      }
      if (ready > 0 && (fd.revents & (POLLIN | POLLERR | POLLHUP)) && !PQconsumeInput(get()))
        return Failure(database_unavailable(PQerrorMessage(get())));
    }
  }

  // nullptr is the end of one statement's results.
  Result<PgResult> next_result(Steady::time_point deadline) {
    TRY(wait_for_answer(deadline));
    return PgResult(PQgetResult(get()));
  }

  // The last result, or the first error, of what was sent.
  Result<PgResult> finish(std::string_view sql, std::chrono::milliseconds timeout) {
    auto deadline = Steady::now() + timeout;
    PgResult last;
    std::optional<Error> failed;
    while (auto result = TRY(next_result(deadline))) {
      if (!is_success(result.get()) && !failed) failed = error(result.get(), sql);
      if (PQnfields(result.get()) > 0 || !last || PQnfields(last.get()) == 0) last = std::move(result);
    }
    if (!failed && !last) failed = database_unavailable(PQerrorMessage(get()));
    if (failed) return Failure(*std::move(failed));
    return last;
  }

  Result<void> settle_earlier() {
    if (!std::exchange(has_answer_to_come, false)) return {};
    auto done = finish("ROLLBACK", answer_timeout());
    if (!done) is_broken = true;
    if (!done) return Failure(done.error());
    return {};
  }

  bool send(std::string_view sql, const BoundParams& bound, const std::string& name) {
    if (name.empty())
      return PQsendQueryParams(get(), std::string(sql).c_str(), bound.size(), bound.types.data(),
                               bound.values.data(), bound.lengths.data(), bound.formats.data(), 0);
    return PQsendQueryPrepared(get(), name.c_str(), bound.size(), bound.values.data(), bound.lengths.data(),
                               bound.formats.data(), 0);
  }

  // Returns the name of the statement's plan; blank for one without.
  Result<std::string> prepare(std::string_view sql, const BoundParams& bound) {
    if (!is_repeated(sql)) return std::string();
    std::string key(sql);
    for (auto type : bound.types) key += static_cast<char>('A' + type % 26);
    if (auto found = prepared.find(key); found != prepared.end()) return found->second;
    if (prepared.size() >= kMaxPrepared) return std::string();
    auto name = fmt::format("s{}", prepared.size());
    if (!PQsendPrepare(get(), name.c_str(), std::string(sql).c_str(), bound.size(), bound.types.data()))
      return Failure(database_unavailable(PQerrorMessage(get())));
    TRY(finish(sql, answer_timeout()));
    prepared.emplace(std::move(key), name);
    return name;
  }

  Result<PgResult> run(std::string_view sql, const Params& params) {
    TRY(check_no_nul(params));
    TRY(settle_earlier());
    BoundParams bound(params);
    auto name = TRY(prepare(sql, bound));
    if (!send(sql, bound, name)) return Failure(database_unavailable(PQerrorMessage(get())));
    return finish(sql, answer_timeout());
  }

  Result<void> run_pipeline(std::span<const Statement> statements);
  Result<void> read_pipeline(std::span<const Statement> statements);
};

// Sends all before it reads an answer. Plans depend on types, so a row with a null may have its own.
Result<void> PostgresConnection::Wire::run_pipeline(std::span<const Statement> statements) {
  TRY(settle_earlier());
  std::vector<BoundParams> bound;
  std::vector<std::string> names;
  for (const auto& one : statements) {
    TRY(check_no_nul(one.params));
    names.push_back(TRY(prepare(one.sql, bound.emplace_back(one.params))));
  }
  if (!PQenterPipelineMode(get())) return Failure(database_unavailable(PQerrorMessage(get())));
  bool sent = true;
  for (std::size_t i = 0; sent && i < bound.size(); ++i) sent = send(statements[i].sql, bound[i], names[i]);
  if (!sent || !PQpipelineSync(get())) {
    is_broken = true;
    return Failure(database_unavailable(PQerrorMessage(get())));
  }
  auto done = read_pipeline(statements);
  if (is_usable() && !PQexitPipelineMode(get())) is_broken = true;
  return done;
}

Result<void> PostgresConnection::Wire::read_pipeline(std::span<const Statement> statements) {
  auto deadline = Steady::now() + answer_timeout();
  Result<void> outcome;
  std::size_t answered = 0;
  for (;;) {
    auto result = next_result(deadline);
    if (!result) {
      is_broken = true;
      return Failure(result.error());
    }
    auto status = *result ? PQresultStatus(result->get()) : PGRES_COMMAND_OK;
    if (status == PGRES_PIPELINE_SYNC) return outcome;
    if (!*result && PQstatus(get()) != CONNECTION_OK)
      return Failure(database_unavailable(PQerrorMessage(get())));
    if (!*result) {
      answered = std::min(answered + 1, statements.size() - 1);
    } else if (!is_success(result->get()) && status != PGRES_PIPELINE_ABORTED && outcome) {
      outcome = Failure(error(result->get(), statements[answered].sql));
    }
  }
}

PostgresConnection::PostgresConnection(std::unique_ptr<Wire> wire) : wire_(std::move(wire)) {}
PostgresConnection::~PostgresConnection() = default;

Result<std::unique_ptr<PostgresConnection>> PostgresConnection::open(
    const std::string& url, std::chrono::milliseconds statement_timeout) {
  const char* const values[] = {"5", "15000", "30", "dashctl", url.c_str(), nullptr};
  auto wire = std::make_unique<Wire>();
  before_wait();
  wire->handle.reset(PQconnectdbParams(kKeywords, values, /*expand_dbname=*/1));
  wire->statement_timeout = statement_timeout;
  if (PQstatus(wire->get()) != CONNECTION_OK)
    return fail(Code::unreachable, "cannot connect to the database {}: {}", hosts_of(url),
                first_line(PQerrorMessage(wire->get())));
  PQsetNoticeReceiver(
      wire->get(),
      [](void* self, const PGresult* notice) {
        const char* severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
        if (severity && std::string_view(severity) == "WARNING") static_cast<Wire*>(self)->has_warned = true;
      },
      wire.get());
  auto self = std::unique_ptr<PostgresConnection>(new PostgresConnection(std::move(wire)));
  // An unflushed tail of the log would mean answers before durability; what waits for more stays.
  TRY(self->script(
      fmt::format("SET statement_timeout TO {}; SET lock_timeout TO 15000; SET "
                  "idle_in_transaction_session_timeout TO 60000; "
                  "SELECT set_config('synchronous_commit', 'on', false) "
                  "WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')",
                  statement_timeout.count())));
  return self;
}

bool PostgresConnection::is_usable() const { return wire_->is_usable(); }

Result<Rows> PostgresConnection::script(std::string_view text) {
  TRY(wire_->settle_earlier());
  if (!PQsendQuery(wire_->get(), std::string(text).c_str()))
    return Failure(database_unavailable(PQerrorMessage(wire_->get())));
  auto result = TRY(wire_->finish(text, wire_->answer_timeout()));
  return rows_of(result.get());
}

void PostgresConnection::script_later(std::string_view text) {
  if (!wire_->settle_earlier() || !PQsendQuery(wire_->get(), std::string(text).c_str()))
    wire_->is_broken = true;
  else
    wire_->has_answer_to_come = true;
}

CommitOutcome PostgresConnection::commit(Error& refusal) {
  wire_->has_warned = false;
  // A statement timeout would end the wait for the standby, and report success.
  constexpr std::string_view kCommit = "SET LOCAL statement_timeout TO 0; COMMIT";
  if (!PQsendQuery(wire_->get(), kCommit.data())) return CommitOutcome::unknown;
  auto result = wire_->finish(kCommit, kCommitTimeout);
  if (!wire_->is_usable()) return CommitOutcome::unknown;
  if (!result) {
    refusal = result.error();
    return CommitOutcome::refused;
  }
  // COMMIT of a failed transaction returns ROLLBACK without an error.
  if (PQtransactionStatus(wire_->get()) == PQTRANS_IDLE &&
      std::string_view(PQcmdStatus(result->get())) == "COMMIT")
    return wire_->has_warned ? CommitOutcome::unknown : CommitOutcome::committed;
  refusal = make_error(Code::internal, "the database undid the change");
  return CommitOutcome::refused;
}

Result<Rows> PostgresConnection::query(std::string_view sql, Params params) {
  return rows_of(TRY(wire_->run(sql, params)).get());
}

Result<std::int64_t> PostgresConnection::exec(std::string_view sql, Params params) {
  auto result = TRY(wire_->run(sql, params));
  return static_cast<std::int64_t>(std::strtoll(PQcmdTuples(result.get()), nullptr, 10));
}

Result<void> PostgresConnection::each(std::string_view sql, Params params,
                                      const std::function<Result<void>(const Row&)>& row) {
  TRY(check_no_nul(params));
  TRY(script("SET LOCAL statement_timeout TO 0"));
  BoundParams bound(params);
  if (!wire_->send(sql, bound, "") || !PQsetSingleRowMode(wire_->get()))
    return Failure(database_unavailable(PQerrorMessage(wire_->get())));
  Result<void> outcome;
  for (;;) {
    auto result = TRY(wire_->next_result(Steady::now() + kFirstRowTimeout));
    if (!result) break;
    if (!outcome) continue;  // the rest must be read before the connection can be used again
    if (PQresultStatus(result.get()) == PGRES_SINGLE_TUPLE)
      outcome = row(row_of(result.get(), 0));
    else if (!is_success(result.get()))
      outcome = Failure(wire_->error(result.get(), sql));
  }
  return outcome;
}

Result<void> PostgresConnection::exec_pipelined(std::span<const Statement> statements) {
  while (!statements.empty()) {
    auto size = std::min(statements.size(), kMaxPipelined);
    TRY(wire_->run_pipeline(statements.first(size)));
    statements = statements.subspan(size);
  }
  return {};
}

}  // namespace dash::db
