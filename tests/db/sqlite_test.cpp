#include <gtest/gtest.h>

#include <thread>

#include "core/db/sql.hpp"
#include "tests/support/scratch.hpp"

namespace dash::db {
namespace {

class Sqlite : public testing::Test {
 protected:
  void SetUp() override {
    must(sql_->write([](Transaction& tx) -> Result<void> {
      TRY(tx.exec("CREATE TABLE t (id BIGINT PRIMARY KEY, text TEXT, bytes BLOB)"));
      return {};
    }));
  }
  std::int64_t count() {
    return read<std::int64_t>(*sql_,
                              [](Transaction& tx) -> Result<std::int64_t> {
                                return TRY(tx.query("SELECT COUNT(*) FROM t"))[0].integer(0);
                              })
        .value();
  }
  Scratch scratch_;
  std::unique_ptr<Sql> sql_ = scratch_database(scratch_);
};

TEST_F(Sqlite, KeepsTextBytesNumbersAndNulls) {
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

TEST_F(Sqlite, UndoesAFailedBodyAndKeepsItsNeighbours) {
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

TEST_F(Sqlite, TurnsAnExceptionIntoAnErrorAndUndoes) {
  auto done = sql_->write([](Transaction& tx) -> Result<void> {
    TRY(tx.exec("INSERT INTO t (id) VALUES (1)"));
    throw std::runtime_error("secret detail");
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::internal);
  EXPECT_EQ(done.error().message.find("secret"), std::string::npos);
  EXPECT_EQ(count(), 0);
}

TEST_F(Sqlite, NamesAConflictWithoutShowingSql) {
  auto twice = sql_->write([](Transaction& tx) -> Result<void> {
    TRY(tx.exec("INSERT INTO t (id) VALUES (1)"));
    TRY(tx.exec("INSERT INTO t (id) VALUES (1)"));
    return {};
  });
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, Code::conflict);
  EXPECT_EQ(twice.error().message.find("INSERT"), std::string::npos);
}

TEST_F(Sqlite, IsSharedByTwoProcessesWorthOfConnections) {
  auto other = open_sqlite(scratch_ / "dashctl.db").value();
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

TEST_F(Sqlite, FileIsPrivateAndALinkIsRefused) {
  auto perms = std::filesystem::status(scratch_ / "dashctl.db").permissions();
  EXPECT_EQ(perms & std::filesystem::perms(077), std::filesystem::perms::none);
  std::filesystem::create_symlink(scratch_ / "elsewhere", scratch_ / "link.db");
  EXPECT_FALSE(open_sqlite(scratch_ / "link.db"));
}

TEST(Schema, GrowsFromEveryOlderVersionAndRefusesANewerOne) {
  for (int from = 0; from <= 3; ++from) {
    Scratch scratch;
    auto sql = open_sqlite(scratch / "old.db").value();
    ASSERT_TRUE(migrate_schema_to(*sql, from));
    ASSERT_TRUE(migrate_schema(*sql)) << from;
    ASSERT_TRUE(migrate_schema(*sql)) << "twice";
    ASSERT_TRUE(sql->write([](Transaction& tx) -> Result<void> {
      TRY(tx.exec("UPDATE schema_version SET version = 1000000"));
      return {};
    }));
    EXPECT_EQ(migrate_schema(*sql).error().code, Code::conflict);
  }
}

}  // namespace
}  // namespace dash::db
