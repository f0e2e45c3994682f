#include "core/db/wal_index.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>

#include "tests/support/scratch.hpp"

namespace dash::db {
namespace {

class WalIndexTest : public testing::Test {
 protected:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
  };
  using Db = std::unique_ptr<sqlite3, Close>;
  Db open() {
    sqlite3* raw = nullptr;
    EXPECT_EQ(sqlite3_open((scratch_ / "test.db").c_str(), &raw), SQLITE_OK);
    return Db(raw);
  }
  static void run(const Db& db, const char* sql) {
    EXPECT_EQ(sqlite3_exec(db.get(), sql, nullptr, nullptr, nullptr), SQLITE_OK) << sql;
  }
  Scratch scratch_;
};

TEST_F(WalIndexTest, ChangesWithEveryCommitOfOthersAndNothingElse) {
  auto reader = open(), writer = open();
  run(writer, "PRAGMA journal_mode=WAL; CREATE TABLE t (x)");
  run(reader, "SELECT * FROM t");
  WalIndex index(reader.get());
  for (int i = 0; i < 3; ++i) {
    auto before = index.header();
    ASSERT_TRUE(before);
    run(reader, "SELECT * FROM t");
    run(writer, "BEGIN IMMEDIATE; INSERT INTO t VALUES (1); ROLLBACK");
    EXPECT_EQ(index.header(), before);
    run(writer, "INSERT INTO t VALUES (1)");
    EXPECT_NE(index.header(), before);
    before = index.header();
    run(writer, "PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO t VALUES (1)");
    EXPECT_NE(index.header(), before) << "the log began anew";
  }
}

TEST_F(WalIndexTest, IsNoneWhereTheDatabaseHasNone) {
  auto db = open();
  run(db, "CREATE TABLE t (x); SELECT * FROM t");
  EXPECT_FALSE(WalIndex(db.get()).header());
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "test.db-shm"));
}

}  // namespace
}  // namespace dash::db
