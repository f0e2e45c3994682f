// One suite over both databases: what every Sql promises. PostgreSQL's address comes from DATABASE_URL.
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "core/db/sql.hpp"
#include "core/net/http/http_client.hpp"
#include "tests/support/fault_proxy.hpp"
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

TEST(Postgres, ThatGoesAwayIsBusyAndItsAddressIsNotTold) {
  std::string url = std::getenv("DATABASE_URL");
  auto host = url.find('@') + 1, path = url.find('/', host);
  auto http = net::make_curl_client();
  auto proxy = std::make_unique<FaultProxy>(*http, std::getenv("TOXIPROXY_URL"),
                                            "http://" + url.substr(host, path - host));
  auto address = proxy->url().substr(std::string_view("http://").size());
  auto sql = must(open_postgres(url.substr(0, host) + address + url.substr(path)));
  proxy.reset();
  auto nothing = [](Transaction&) -> Result<void> { return {}; };
  for (const auto& done : {sql->read(nothing), sql->write(nothing)}) {
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::busy);
    EXPECT_EQ(done.error().message.find(address), std::string::npos) << done.error().message;
    EXPECT_TRUE(done.error().retry_after);
  }
}

INSTANTIATE_TEST_SUITE_P(Databases, SqlContract, testing::Values("sqlite", "postgres"),
                         [](const auto& engine) { return std::string(engine.param); });

}  // namespace
}  // namespace dash::db
