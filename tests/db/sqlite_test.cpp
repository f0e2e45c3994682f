#include <gtest/gtest.h>

#include "core/db/sql.hpp"
#include "tests/support/scratch.hpp"

namespace dash::db {
namespace {

TEST(Sqlite, FileIsPrivateAndALinkIsRefused) {
  Scratch scratch_;
  must(open_sqlite(scratch_ / "dashctl.db"));
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
