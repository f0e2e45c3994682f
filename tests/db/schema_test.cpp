#include "core/db/schema.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "core/base/embedded.hpp"
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
  must(
      commit("INSERT INTO workgroups (name, description, created_at, require_change_window) VALUES ('team', "
             "'', 0, 0)"));
  EXPECT_TRUE(moves("INSERT INTO workgroup_members (workgroup, username) VALUES ('team', 'ann')"));
  EXPECT_TRUE(moves("DELETE FROM workgroups")) << "a member goes with the workgroup";
  EXPECT_TRUE(moves("DELETE FROM users"));
  EXPECT_FALSE(moves("UPDATE audit_head SET count = 7"));
}

Result<void> set_versions(Sql& sql, std::int64_t version, std::int64_t minimum) {
  return sql.write([&](Transaction& tx) -> Result<void> {
    TRY(tx.exec("UPDATE schema_version SET version = $1, min_version = $2", {version, minimum}));
    return {};
  });
}

TEST(Schema, GrowsFromEveryOlderVersion) {
  for (int from = 0; from <= newest_schema(); ++from) {
    Scratch scratch;
    auto sql = open_sqlite(scratch / "old.db").value();
    ASSERT_TRUE(migrate_schema_to(*sql, from));
    ASSERT_TRUE(migrate_schema(*sql)) << from;
    ASSERT_TRUE(migrate_schema(*sql)) << "twice";
  }
}

TEST(Schema, OfANewerProgramIsUsedAsLongAsItsMinimumAllows) {
  Scratch scratch;
  auto sql = must(open_sqlite(scratch / "newer.db"));
  must(migrate_schema(*sql));
  must(set_versions(*sql, 1'000'000, newest_schema()));
  EXPECT_TRUE(migrate_schema(*sql));
  EXPECT_EQ(must(schema_versions(*sql)).present, 1'000'000) << "and it is left alone";
  must(set_versions(*sql, 1'000'000, 999'999));
  auto refused = migrate_schema(*sql);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_NE(refused.error().message.find("needs one that knows schema 999999"), std::string::npos);
}

// Whether a program of before a step can go on with it: new tables, and columns that it need not fill.
bool is_additive(std::string_view statement) {
  for (std::string_view word : {"CREATE TABLE", "CREATE INDEX", "CREATE FUNCTION",
                                "CREATE OR REPLACE FUNCTION", "CREATE TRIGGER", "INSERT INTO", "UPDATE "})
    if (statement.starts_with(word)) return true;
  bool adds = statement.starts_with("ALTER TABLE") && statement.find(" ADD COLUMN ") != statement.npos;
  return adds &&
         (statement.find("NOT NULL") == statement.npos || statement.find("DEFAULT") != statement.npos);
}

TEST(Schema, RaisesItsMinimumWithEveryStepThatIsNotAdditive) {
  constexpr std::string_view kFolder = "core/db/schema/";
  for (const auto& file : embedded_files()) {
    std::string_view path = file.path;
    if (!path.starts_with(kFolder) || path.substr(kFolder.size()) < "033") continue;
    std::string text;
    for (std::istringstream in{std::string(file.bytes())}; std::getline(in, text);)
      if (text.starts_with("-- min_version")) break;
    if (text.starts_with("-- min_version")) continue;
    std::string_view rest = file.bytes();
    while (!rest.empty()) {
      auto end = std::min(rest.find(";\n"), rest.size());
      auto statement = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 2, rest.size()));
      while (statement.starts_with("--")) statement.remove_prefix(statement.find('\n') + 1);
      if (!statement.empty()) {
        EXPECT_TRUE(is_additive(statement)) << path << ": " << statement;
      }
    }
  }
}

}  // namespace
}  // namespace dash::db
