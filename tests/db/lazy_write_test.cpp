#include "core/db/lazy_write.hpp"

#include <gtest/gtest.h>

#include <future>

#include "tests/support/faulty_sql.hpp"
#include "tests/support/scratch.hpp"

namespace dash::db {
namespace {

TransactionFn add(std::int64_t n) {
  return [n](Transaction& tx) -> Result<void> {
    TRY(tx.exec("INSERT INTO lazy (n) VALUES ($1)", {n}));
    return {};
  };
}

struct LazyWrite : testing::Test {
  LazyWrite() {
    must(sql->write([](Transaction& tx) -> Result<void> {
      TRY(tx.exec("CREATE TABLE lazy (n BIGINT PRIMARY KEY)"));
      return {};
    }));
  }
  static std::int64_t count(Sql& of) {
    return must(read<std::int64_t>(of, [](Transaction& tx) -> Result<std::int64_t> {
      return TRY(tx.query("SELECT count(*) FROM lazy")).at(0).integer(0);
    }));
  }
  Scratch scratch;
  std::unique_ptr<Sql> sql = scratch_database(scratch);
};

TEST_F(LazyWrite, IsSeenAtOnceByAllAndOutlivesTheProcess) {
  must(write_lazily(*sql, add(1)));
  must(sql->write(add(2)));
  must(write_lazily(*sql, add(3)));
  EXPECT_EQ(count(*sql), 3);
  EXPECT_EQ(count(*scratch_database(scratch)), 3);
}

TEST_F(LazyWrite, FailsAloneAmongWritersThatCommitTogether) {
  must(write_lazily(*sql, add(1)));
  EXPECT_EQ(write_lazily(*sql, add(1)).error().code, Code::conflict);
  std::vector<std::future<Result<void>>> writers;
  for (std::int64_t n = 2; n < 10; ++n)
    writers.push_back(std::async(std::launch::async,
                                 [&, n] { return n % 2 ? sql->write(add(n)) : write_lazily(*sql, add(n)); }));
  for (auto& writer : writers) EXPECT_TRUE(writer.get());
  EXPECT_EQ(count(*sql), 9);
}

TEST_F(LazyWrite, IsAWriteWhereTheDatabaseKnowsNoOther) {
  FaultySql other(*sql);
  must(write_lazily(other, add(1)));
  EXPECT_EQ(count(*sql), 1);
}

}  // namespace
}  // namespace dash::db
