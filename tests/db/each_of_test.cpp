#include "core/db/each_of.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/scratch.hpp"

namespace dash::db {
namespace {

class EachOf : public ::testing::Test {
 protected:
  EachOf() {
    must(sql_->write([](Transaction& tx) -> Result<void> {
      TRY(tx.exec(R"(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
                     INSERT INTO asset_digests (place, name, etag, digest)
                     SELECT 'local', 'a' || i, 'e', 'd' FROM n)"));
      return {};
    }));
  }
  Result<std::multiset<std::string>> find(const std::vector<std::string>& names, const std::string& backend) {
    using Set = std::multiset<std::string>;
    return read<Set>(*sql_, [&](Transaction& tx) -> Result<Set> {
      Set found;
      TRY(each_of(tx, "SELECT name FROM asset_digests WHERE place = $1 AND (name IN ({0}) OR name IN ({0}))",
                  {backend}, names, [&](const Row& row) -> Result<void> {
                    found.insert(row.text(0));
                    return {};
                  }));
      return found;
    });
  }

  Scratch scratch_;
  std::unique_ptr<Sql> sql_ = scratch_database(scratch_);
};

TEST_F(EachOf, FindsEachOfMoreValuesThanAStatementTakesAndNothingElse) {
  std::vector<std::string> names;
  for (int i = 2; i <= 1400; ++i) names.push_back(fmt::format("a{}", i));
  names.push_back("absent");
  auto found = must(find(names, "local"));
  EXPECT_EQ(found.size(), 1399u);
  EXPECT_TRUE(found.contains("a2") && found.contains("a1400"));
  EXPECT_FALSE(found.contains("a1") || found.contains("a1401"));
  EXPECT_TRUE(must(find(names, "obj_cloud1")).empty());
}

TEST_F(EachOf, AsksNothingAboutNoValues) { EXPECT_TRUE(must(find({}, "local")).empty()); }

TEST_F(EachOf, StopsAtTheFirstErrorOfARow) {
  std::vector<std::string> names{"a1", "a2"};
  auto stopped = sql_->read([&](Transaction& tx) {
    return each_of(tx, "SELECT name FROM asset_digests WHERE name IN ({0})", {}, names,
                   [](const Row&) -> Result<void> { return fail(Code::conflict, "enough"); });
  });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().message, "enough");
}

}  // namespace
}  // namespace dash::db
