#include "core/db/schema.hpp"

#include <gtest/gtest.h>

#include "tests/support/scratch.hpp"

namespace dash::db {
namespace {

// Authentication reads these tables: a change that did not move the version would admit a user who was
// disabled.
TEST(Version, MovesWithEveryChangeOfWhatIsKeptAndWithNothingElse) {
  Scratch scratch;
  auto sql = must(open_sqlite(scratch / "dashctl.db")), elsewhere = must(open_sqlite(scratch / "dashctl.db"));
  must(migrate_schema(*sql));
  auto commit = [&](const char* statement) {
    return elsewhere->write([&](Transaction& tx) -> Result<void> {
      TRY(tx.exec(statement));
      return {};
    });
  };
  auto moves = [&](const char* statement) {
    auto before = must(sql->data_version());
    must(commit(statement));
    return must(sql->data_version()) != before;
  };
  for (auto* statement : {
           R"(INSERT INTO users (username, password_hash, is_admin, is_active, created_at)
              VALUES ('ann', '', 0, 1, 0))",
           "INSERT INTO grants (username, permission) VALUES ('ann', 'jobs:read')",
           "UPDATE grants SET permission = 'jobs:write'",
           "DELETE FROM grants",
           "UPDATE users SET is_active = 0",
           "INSERT INTO sessions (id, username, expires_at) VALUES ('s', 'ann', 9)",
           "UPDATE sessions SET expires_at = 1",
           "DELETE FROM sessions",
           "INSERT INTO config (key, value, updated_at) VALUES ('k', x'00', 0)",
           R"(INSERT INTO config (key, value, updated_at) VALUES ('k', x'01', 0)
              ON CONFLICT (key) DO UPDATE SET value = x'01')",
           "REPLACE INTO config (key, value, updated_at) VALUES ('k', x'02', 0)",
           "DELETE FROM config",
       })
    EXPECT_TRUE(moves(statement)) << statement;
  must(commit("INSERT INTO workgroups VALUES ('team', '', 0, NULL, 0)"));
  EXPECT_TRUE(moves("INSERT INTO workgroup_members (workgroup, username) VALUES ('team', 'ann')"));
  EXPECT_TRUE(moves("DELETE FROM workgroups")) << "a member goes with the workgroup";
  EXPECT_TRUE(moves("DELETE FROM users"));
  EXPECT_FALSE(moves("UPDATE audit_head SET count = 7"));
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
