// One suite over both databases: what every Sql promises. PostgreSQL's address comes from DATABASE_URL.
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "core/db/exec_many.hpp"
#include "core/db/postgres.hpp"
#include "core/db/schema.hpp"
#include "core/db/tables.hpp"
#include "core/db/use_lock.hpp"
#include "tests/support/scratch.hpp"

namespace dash::db {
namespace {

class SqlContract : public testing::TestWithParam<std::string_view> {
 protected:
  static std::string postgres_url() {
    const char* url = std::getenv("DATABASE_URL");
    if (!url) throw std::runtime_error("DATABASE_URL is not set: scripts/test starts a server and sets it");
    return url;
  }
  std::unique_ptr<Sql> open() {
    return must(GetParam() == "sqlite" ? open_sqlite(scratch_ / "dashctl.db")
                                       : open_postgres(postgres_url()));
  }
  std::string place() const { return GetParam() == "sqlite" ? scratch_ / "dashctl.db" : postgres_url(); }
  void SetUp() override {
    sql_ = open();
    must(sql_->write([](Transaction& tx) -> Result<void> {
      if (tx.is_postgres()) {
        TRY(tx.exec("DROP SCHEMA public CASCADE"));
        TRY(tx.exec("CREATE SCHEMA public"));
      }
      TRY(tx.exec(tx.is_postgres() ? "CREATE TABLE t (id BIGINT PRIMARY KEY, text TEXT, bytes BYTEA)"
                                   : "CREATE TABLE t (id BIGINT PRIMARY KEY, text TEXT, bytes BLOB)"));
      return {};
    }));
  }
  std::int64_t count() {
    return must(read<std::int64_t>(*sql_, [](Transaction& tx) -> Result<std::int64_t> {
      return TRY(tx.query("SELECT COUNT(*) FROM t"))[0].integer(0);
    }));
  }
  Result<std::string> text_of(std::int64_t id) {
    return read<std::string>(*sql_, [&](Transaction& tx) -> Result<std::string> {
      return TRY(tx.query("SELECT text FROM t WHERE id = $1", {id})).at(0).text(0);
    });
  }
  Scratch scratch_;
  std::unique_ptr<Sql> sql_;
};

// A name with more behind a NUL is another name, or none.
TEST_P(SqlContract, NeverTakesATextUpToItsNul) {
  ASSERT_TRUE(sql_->write([](Transaction& tx) -> Result<void> {
    TRY(tx.exec("INSERT INTO t VALUES (1, 'root', NULL)"));
    return {};
  }));
  std::size_t found = 0;
  auto read = sql_->read([&](Transaction& tx) -> Result<void> {
    found = TRY(tx.query("SELECT id FROM t WHERE text = $1", {std::string("root\0x", 6)})).size();
    return {};
  });
  EXPECT_EQ(found, 0u);
  if (!read) {
    EXPECT_EQ(read.error().code, Code::invalid);
  }
}

TEST_P(SqlContract, KeepsTextBytesNumbersAndNulls) {
  ASSERT_TRUE(sql_->write([](Transaction& tx) -> Result<void> {
    TRY(tx.exec("INSERT INTO t VALUES ($1, $2, $3)",
                {std::int64_t{1} << 40, "a\"b", Blob{std::string("\0x", 2)}}));
    TRY(tx.exec("INSERT INTO t VALUES ($1, $2, $3)", {std::int64_t{2}, nullptr, nullptr}));
    return {};
  }));
  ASSERT_TRUE(sql_->read([](Transaction& tx) -> Result<void> {
    auto rows = TRY(tx.query("SELECT id, text, bytes FROM t ORDER BY id DESC"));
    EXPECT_EQ(rows[0].integer(0), std::int64_t{1} << 40);
    EXPECT_EQ(rows[0].text(1), "a\"b");
    EXPECT_EQ(rows[0].blob(2), std::string("\0x", 2));
    EXPECT_TRUE(rows[1].is_null(1));
    return {};
  }));
}

TEST_P(SqlContract, UndoesAFailedBodyAndKeepsItsNeighbours) {
  std::vector<std::thread> writers;
  for (std::int64_t i = 0; i < 16; ++i)
    writers.emplace_back([&, i] {
      auto done = sql_->write([&](Transaction& tx) -> Result<void> {
        TRY(tx.exec("INSERT INTO t (id) VALUES ($1)", {i}));
        if (i % 2) return fail(Code::invalid, "odd");
        return {};
      });
      EXPECT_EQ(done.has_value(), i % 2 == 0);
    });
  for (auto& w : writers) w.join();
  EXPECT_EQ(count(), 8);
}

TEST_P(SqlContract, TurnsAnExceptionIntoAnErrorAndUndoes) {
  auto done = sql_->write([](Transaction& tx) -> Result<void> {
    TRY(tx.exec("INSERT INTO t (id) VALUES (1)"));
    throw std::runtime_error("secret detail");
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::internal);
  EXPECT_EQ(done.error().message.find("secret"), std::string::npos);
  EXPECT_EQ(count(), 0);
}

TEST_P(SqlContract, NamesAConflictWithoutShowingSql) {
  auto twice = sql_->write([](Transaction& tx) -> Result<void> {
    TRY(tx.exec("INSERT INTO t (id) VALUES (1)"));
    TRY(tx.exec("INSERT INTO t (id) VALUES (1)"));
    return {};
  });
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, Code::conflict);
  EXPECT_EQ(twice.error().message.find("INSERT"), std::string::npos);
}

TEST_P(SqlContract, IsSharedByTwoProcessesWorthOfConnections) {
  auto other = open();
  auto write_many = [](Sql& sql, std::int64_t from) {
    for (std::int64_t i = from; i < from + 50; ++i)
      must(sql.write([&](Transaction& tx) -> Result<void> {
        TRY(tx.exec("INSERT INTO t (id) VALUES ($1)", {i}));
        return {};
      }));
  };
  std::thread one([&] { write_many(*sql_, 0); });
  std::thread two([&] { write_many(*other, 1000); });
  one.join();
  two.join();
  EXPECT_EQ(count(), 100);
}

TEST_P(SqlContract, HandsOutRowsOneByOneAndStopsAtTheFirstError) {
  must(sql_->write([](Transaction& tx) -> Result<void> {
    for (std::int64_t i = 0; i < 100; ++i) TRY(tx.exec("INSERT INTO t (id) VALUES ($1)", {i}));
    return {};
  }));
  std::int64_t seen = 0;
  auto stopped = sql_->read([&](Transaction& tx) -> Result<void> {
    return tx.each("SELECT id FROM t ORDER BY id", {}, [&](const Row& row) -> Result<void> {
      seen = row.integer(0);
      if (seen == 41) return fail(Code::invalid, "enough");
      return {};
    });
  });
  EXPECT_EQ(stopped.error().message, "enough");
  EXPECT_EQ(seen, 41);
  EXPECT_EQ(count(), 100);
}

TEST_P(SqlContract, AFailedStatementInAReadDoesNotSpoilTheNextOne) {
  auto bad = sql_->read([](Transaction& tx) -> Result<void> {
    TRY(tx.query("SELECT nothing FROM nowhere"));
    return {};
  });
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message.find("nowhere"), std::string::npos);
  EXPECT_EQ(count(), 0);
}

TEST_P(SqlContract, TakesTheWholeSchema) {
  must(migrate_schema(*sql_));
  must(migrate_schema(*sql_));
  auto version = must(read<std::int64_t>(*sql_, [](Transaction& tx) -> Result<std::int64_t> {
    return TRY(tx.query("SELECT version FROM schema_version"))[0].integer(0);
  }));
  EXPECT_GE(version, 3);
}

TEST_P(SqlContract, RunsManyStatementsInOrderOrFailsAsAWhole) {
  constexpr std::string_view kInsert = "INSERT INTO t (id, text) VALUES ($1, $2)";
  std::vector<Statement> statements;
  for (std::int64_t i = 0; i < 300; ++i)
    statements.push_back({kInsert, {i, i % 3 ? Value(std::string("text")) : Value(nullptr)}});
  statements.push_back({"UPDATE t SET text = 'new' WHERE id = $1", {std::int64_t{299}}});
  auto run = [&](Transaction& tx) { return exec_many(tx, statements); };
  must(sql_->write(run));
  EXPECT_EQ(count(), 300);
  EXPECT_EQ(must(text_of(299)), "new");
  statements[0].params = {std::int64_t{1000}, nullptr};  // the others are there already
  auto twice = sql_->write(run);
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, Code::conflict);
  EXPECT_NE(twice.error().detail.find("INSERT"), std::string::npos) << twice.error().detail;
  EXPECT_EQ(count(), 300);
}

TEST_P(SqlContract, IsServedByManyAndReplacedByOne) {
  auto one = must(lock_database(place(), Use::serving)), two = must(lock_database(place(), Use::serving));
  auto refused = lock_database(place(), Use::replacing);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_NE(refused.error().message.find("a server runs"), std::string::npos);
  must(one->keep());
  one.reset();
  two.reset();
  auto alone = must(lock_database(place(), Use::replacing));
  EXPECT_EQ(lock_database(place(), Use::serving).error().code, Code::conflict);
  EXPECT_EQ(lock_database(place(), Use::replacing).error().code, Code::conflict);
}

TEST_P(SqlContract, MovesItsVersionWithWhatIsCachedAndNothingElse) {
  must(migrate_schema(*sql_));
  auto elsewhere = open();
  auto moves = [&](const char* statement) {
    auto before = must(sql_->data_version());
    must(elsewhere->write([&](Transaction& tx) -> Result<void> {
      TRY(tx.exec(statement));
      return {};
    }));
    return must(sql_->data_version()) != before;
  };
  EXPECT_TRUE(must(sql_->data_version())) << "it is known at all";
  EXPECT_TRUE(
      moves("INSERT INTO users (username, password_hash, is_admin, is_active, created_at) VALUES ('ann', '', "
            "0, 1, 0)"));
  EXPECT_TRUE(moves("INSERT INTO sessions (id, username, expires_at) VALUES ('s', 'ann', 9)"));
  EXPECT_TRUE(moves("UPDATE users SET is_active = 0"));
  EXPECT_TRUE(moves("DELETE FROM users")) << "the session goes with its user";
  EXPECT_TRUE(moves(
      "INSERT INTO workgroups (name, description, created_at, require_change_window) VALUES ('team', '', "
      "0, 0)"));
  EXPECT_TRUE(moves("UPDATE workgroups SET require_change_window = 1"));
  EXPECT_TRUE(moves("UPDATE change_windows SET enabled = 0") == (GetParam() == "postgres"))
      << "there is none: a trigger of PostgreSQL is one of the statement";
  EXPECT_FALSE(moves("UPDATE audit_head SET count = 7"));
}

TEST_P(SqlContract, HoldsTheSameRowsAsACopyInTheOtherEngine) {
  auto digests = [](Sql& sql) {
    TableCounter counter;
    must(sql.read([&](Transaction& tx) { return dump_tables(tx, counter); }));
    return counter.tables();
  };
  auto load = [](Sql& from, Sql& to) {
    must(from.read([&](Transaction& source) {
      return to.write([&](Transaction& target) -> Result<void> {
        TRY(clear_to_schema(target, newest_schema()));
        TableLoader loader(target);
        return dump_tables(source, loader);
      });
    }));
  };
  must(migrate_schema(*sql_));
  must(sql_->write([](Transaction& tx) -> Result<void> {
    TRY(
        tx.exec("INSERT INTO users (username, password_hash, is_admin, is_active, created_at) VALUES ('ann', "
                "'', 0, 1, 0)"));
    TRY(tx.exec("INSERT INTO config (key, value, updated_at) VALUES ($1, $2, $3)",
                {"k\"\xc3\xa9", Blob{std::string("\0\xff\x01", 3)}, std::int64_t{1} << 40}));
    TRY(tx.exec("INSERT INTO login_failures (username, address, at) VALUES ('ann', '10.0.0.0/8', 3)"));
    return {};
  }));
  auto lite = must(open_sqlite(scratch_ / "copy.db"));
  load(*sql_, *lite);
  EXPECT_EQ(digests(*sql_), digests(*lite));
  load(*lite, *sql_);
  EXPECT_EQ(digests(*sql_), digests(*lite));
}

INSTANTIATE_TEST_SUITE_P(Databases, SqlContract, testing::Values("sqlite", "postgres"),
                         [](const auto& engine) { return std::string(engine.param); });

}  // namespace
}  // namespace dash::db
