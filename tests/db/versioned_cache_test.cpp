#include "core/db/versioned_cache.hpp"

#include <gtest/gtest.h>

#include "tests/support/scratch.hpp"

namespace dash::db {
namespace {

// Each case commits in its own way.
TEST(VersionedCache, ReadsAgainAfterEveryCommitAndOnlyThen) {
  Scratch scratch;
  auto sql = must(open_sqlite(scratch / "dashctl.db")), elsewhere = must(open_sqlite(scratch / "dashctl.db"));
  must(migrate_schema(*sql));
  VersionedCache<std::int64_t> cache;
  int reads = 0;
  auto count = [&] {
    return *must(cache.get(*sql, "users", [&]() -> Result<std::int64_t> {
      ++reads;
      return read<std::int64_t>(*sql, [](Transaction& tx) -> Result<std::int64_t> {
        return TRY(tx.query("SELECT count(*) FROM grants")).at(0).integer(0);
      });
    }));
  };
  auto add = [](Sql& to, const std::string& permission) {
    return to.write([&](Transaction& tx) -> Result<void> {
      TRY(tx.exec(
          R"(INSERT INTO users (username, password_hash, is_admin, is_active, created_at)
             VALUES ('ann', '', 0, 1, 0)
             ON CONFLICT DO NOTHING)"));
      TRY(tx.exec("INSERT INTO grants (username, permission) VALUES ('ann', $1)", {permission}));
      return {};
    });
  };
  EXPECT_EQ(count(), 0);
  EXPECT_EQ(count(), 0);
  EXPECT_EQ(reads, 1);
  must(add(*sql, "jobs:read"));
  EXPECT_EQ(count(), 1);
  must(add(*elsewhere, "jobs:write"));
  EXPECT_EQ(count(), 2);
  EXPECT_FALSE(add(*elsewhere, "jobs:write")) << "twice the same";
  EXPECT_EQ(count(), 2);
  EXPECT_EQ(reads, 3);
}

}  // namespace
}  // namespace dash::db
