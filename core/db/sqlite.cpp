#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include "core/db/group_commit.hpp"
#include "core/db/wal_index.hpp"

namespace dash::db {
namespace {

constexpr int kBusyTimeoutMs = 15'000;       // another process may be importing a large bundle
constexpr std::size_t kMaxIdleReaders = 24;  // one for each thread that the daemon keeps busy

struct CloseDb {
  void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
};
using Db = std::unique_ptr<sqlite3, CloseDb>;
using StatementHandle = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

Failure sqlite_error(sqlite3* db, int rc, std::string_view sql) {
  auto code = Code::internal;
  std::string message = "the database failed; the log has the reason";
  switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      code = Code::busy;
      message = "the database is busy; try again shortly";
      break;
    case SQLITE_CONSTRAINT:
      code = Code::conflict;
      message = "it exists already";
      break;
    case SQLITE_FULL:
      code = Code::busy;
      message = "the disk of the data directory is full; nothing was written";
      break;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      code = Code::busy;
      message = "the database takes no writes; check the disk, owner and mode of the data directory";
      break;
    case SQLITE_IOERR:
      code = Code::busy;
      message = "the disk of the data directory fails or is full; check it";
      break;
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      code = Code::integrity;
      message = "the database file is damaged; restore it from a backup";
      break;
    default:
      break;
  }
  return Failure(Error{.code = code,
                       .message = std::move(message),
                       .detail = fmt::format("sqlite {}: {} in: {}", rc, sqlite3_errmsg(db), sql)});
}

Value column(sqlite3_stmt* s, int i) {
  switch (sqlite3_column_type(s, i)) {
    case SQLITE_NULL:
      return nullptr;
    case SQLITE_INTEGER:
      return static_cast<std::int64_t>(sqlite3_column_int64(s, i));
    case SQLITE_BLOB: {
      auto* p = static_cast<const char*>(sqlite3_column_blob(s, i));
      return Blob{std::string(p ? p : "", static_cast<std::size_t>(sqlite3_column_bytes(s, i)))};
    }
    default: {
      auto* p = reinterpret_cast<const char*>(sqlite3_column_text(s, i));
      return std::string(p ? p : "", static_cast<std::size_t>(sqlite3_column_bytes(s, i)));
    }
  }
}

// A statement and the positions of its $1, $2, …; 0 for one that only the other engine's text uses.
struct PreparedStatement {
  StatementHandle statement;
  std::vector<int> indexes;
};

std::vector<int> parameter_indexes(sqlite3_stmt* s) {
  std::vector<int> out;
  for (int i = 1; i <= sqlite3_bind_parameter_count(s); ++i) {
    const char* name = sqlite3_bind_parameter_name(s, i);
    auto n = name ? static_cast<std::size_t>(std::max(0, std::atoi(name + 1))) : 0;
    if (n > out.size()) out.resize(n);
    if (n > 0) out[n - 1] = i;
  }
  return out;
}

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

// One connection with its prepared statements. Used by one thread at a time.
class SqliteConnection final : public Transaction {
 public:
  static Result<std::unique_ptr<SqliteConnection>> open(const std::string& path) {
    sqlite3* raw = nullptr;
    int rc = sqlite3_open_v2(
        path.c_str(), &raw,
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
    auto self = std::unique_ptr<SqliteConnection>(new SqliteConnection(Db(raw)));
    if (rc != SQLITE_OK) return sqlite_error(raw, rc, "open");
    sqlite3_busy_timeout(raw, kBusyTimeoutMs);
    for (auto pragma : {"PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "PRAGMA foreign_keys=ON"})
      TRY(self->query(pragma));
    return self;
  }

  Result<Rows> query(std::string_view sql, Params params = {}) override {
    Rows rows;
    TRY(each(sql, std::move(params), [&](const Row& row) -> Result<void> {
      rows.push_back(row);
      return {};
    }));
    return rows;
  }

  Result<std::int64_t> exec(std::string_view sql, Params params = {}) override {
    TRY(each(sql, std::move(params), [](const Row&) -> Result<void> { return {}; }));
    return static_cast<std::int64_t>(sqlite3_changes64(db_.get()));
  }

  Result<void> each(std::string_view sql, Params params,
                    const std::function<Result<void>(const Row&)>& row) override {
    auto& prepared = *TRY(prepare(sql));
    auto* s = prepared.statement.get();
    struct Reset {
      sqlite3_stmt* s;
      ~Reset() {
        sqlite3_reset(s);
        sqlite3_clear_bindings(s);
      }
    } reset{s};
    for (std::size_t i = 0; i < std::min(params.size(), prepared.indexes.size()); ++i)
      if (prepared.indexes[i] > 0) TRY(bind(s, prepared.indexes[i], params[i], sql));
    for (;;) {
      int rc = sqlite3_step(s);
      if (rc == SQLITE_DONE) return {};
      if (rc != SQLITE_ROW) return sqlite_error(db_.get(), rc, sql);
      std::vector<Value> values;
      values.reserve(static_cast<std::size_t>(sqlite3_column_count(s)));
      for (int i = 0; i < sqlite3_column_count(s); ++i) values.push_back(column(s, i));
      TRY(row(Row(std::move(values))));
    }
  }

  bool is_postgres() const override { return false; }
  WalIndex wal_index() const { return WalIndex(db_.get()); }

 private:
  explicit SqliteConnection(Db db) : db_(std::move(db)) {}

  Result<PreparedStatement*> prepare(std::string_view sql) {
    auto found = statements_.find(sql);
    if (found != statements_.end()) return &found->second;
    sqlite3_stmt* raw = nullptr;
    int rc = sqlite3_prepare_v3(db_.get(), sql.data(), static_cast<int>(sql.size()),
                                SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
    if (rc != SQLITE_OK) return sqlite_error(db_.get(), rc, sql);
    return &statements_.emplace(sql, PreparedStatement{StatementHandle(raw), parameter_indexes(raw)})
                .first->second;
  }

  Result<void> bind(sqlite3_stmt* s, int index, const Value& value, std::string_view sql) {
    int rc = SQLITE_OK;
    if (std::holds_alternative<std::nullptr_t>(value)) {
      rc = sqlite3_bind_null(s, index);
    } else if (auto* n = std::get_if<std::int64_t>(&value)) {
      rc = sqlite3_bind_int64(s, index, *n);
    } else if (auto* t = std::get_if<std::string>(&value)) {
      rc = sqlite3_bind_text64(s, index, t->data(), t->size(), SQLITE_STATIC, SQLITE_UTF8);
    } else {
      const auto& b = std::get<Blob>(value).bytes;
      rc = b.empty() ? sqlite3_bind_zeroblob(s, index, 0)
                     : sqlite3_bind_blob64(s, index, b.data(), b.size(), SQLITE_STATIC);
    }
    if (rc != SQLITE_OK) return sqlite_error(db_.get(), rc, sql);
    return {};
  }

  Db db_;
  std::unordered_map<std::string, PreparedStatement, TextHash, std::equal_to<>> statements_;
};

// A commit here is durable or it failed: there is no connection that could be cut between.
class SqliteWriter final : public Writer {
 public:
  explicit SqliteWriter(std::unique_ptr<SqliteConnection> connection) : connection_(std::move(connection)) {}
  Result<Transaction*> begin() override {
    TRY(connection_->exec("BEGIN IMMEDIATE"));
    return connection_.get();
  }
  Result<void> commit() override {
    auto done = connection_->exec("COMMIT");
    if (done) return {};
    rollback();
    return Failure(done.error());
  }
  Result<void> abandon() override {
    rollback();
    return {};
  }
  void rollback() override { std::ignore = connection_->exec("ROLLBACK"); }

 private:
  std::unique_ptr<SqliteConnection> connection_;
};

class SqliteSql final : public Sql {
 public:
  SqliteSql(std::string path, std::unique_ptr<SqliteConnection> writer)
      : path_(std::move(path)), writer_(std::move(writer)) {}

  Result<void> read(const TransactionFn& body) override {
    auto connection = TRY(acquire_reader());
    TRY(connection->exec("BEGIN"));
    auto result = run_catching(body, *connection);
    auto ended = connection->exec("COMMIT");
    if (ended) release(std::move(connection));
    return result;
  }

  Result<void> write(const TransactionFn& body) override { return commits_.write(body); }

  bool is_postgres() const override { return false; }

  // Read on one connection that never writes, so that `data_version` counts the commits of all others. It
  // changes for every entry of the audit log too; the table's number changes only for the cached tables. Between
  // commits the header of the log's index, which was taken before the last read, says that it is still right.
  Result<std::optional<std::int64_t>> data_version() override {
    std::lock_guard lock(version_mutex_);
    auto header = wal_index_ ? wal_index_->header() : std::nullopt;
    if (header && header == header_seen_) return version_;
    if (!version_reader_) version_reader_ = TRY(SqliteConnection::open(path_));
    auto commits = TRY(version_reader_->query("PRAGMA data_version")).at(0).integer(0);
    if (commits != commits_seen_) {
      version_ = TRY(version_reader_->query("SELECT number FROM kept_version")).at(0).integer(0);
      commits_seen_ = commits;
    }
    if (!wal_index_) wal_index_ = version_reader_->wal_index();
    header_seen_ = header;
    return version_;
  }

 private:
  Result<std::unique_ptr<SqliteConnection>> acquire_reader() {
    {
      std::lock_guard lock(readers_mutex_);
      if (!idle_readers_.empty()) {
        auto connection = std::move(idle_readers_.back());
        idle_readers_.pop_back();
        return connection;
      }
    }
    return SqliteConnection::open(path_);
  }

  void release(std::unique_ptr<SqliteConnection> connection) {
    std::lock_guard lock(readers_mutex_);
    if (idle_readers_.size() < kMaxIdleReaders) idle_readers_.push_back(std::move(connection));
  }

  std::string path_;
  std::mutex readers_mutex_;
  std::vector<std::unique_ptr<SqliteConnection>> idle_readers_;
  std::mutex version_mutex_;
  std::unique_ptr<SqliteConnection> version_reader_;
  std::optional<std::int64_t> commits_seen_, version_;
  std::optional<WalIndex> wal_index_;
  std::optional<WalIndex::Header> header_seen_;
  SqliteWriter writer_;
  GroupCommit commits_{writer_};
};

}  // namespace

Result<std::unique_ptr<Sql>> open_sqlite(const std::string& path) {
  // SQLite gives its -wal and -shm files the mode of the database, so make that private first.
  int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  // A database that is not writable is opened for reading.
  if (fd < 0 && (errno == EACCES || errno == EPERM || errno == EROFS))
    fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return fail(Code::invalid, "cannot open the database {}: {}", path, strerror(errno));
  ::close(fd);
  auto writer = TRY(within(path, SqliteConnection::open(path)));
  return std::unique_ptr<Sql>(new SqliteSql(path, std::move(writer)));
}

}  // namespace dash::db
