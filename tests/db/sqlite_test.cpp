#include <gtest/gtest.h>

#include "core/db/versioned_cache.hpp"
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

}  // namespace
}  // namespace dash::db
