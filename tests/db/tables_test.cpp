#include "core/db/tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/db/schema.hpp"
#include "tests/support/must.hpp"
#include "tests/support/scratch.hpp"

namespace dash::db {
namespace {

class Tables : public testing::Test {
 protected:
  std::unique_ptr<Sql> database(const std::string& name) {
    auto sql = must(open_sqlite(scratch_ / name));
    must(migrate_schema(*sql));
    return sql;
  }
  static void run(Sql& sql, const std::vector<std::string>& statements) {
    must(sql.write([&](Transaction& tx) -> Result<void> {
      for (const auto& statement : statements) TRY(tx.exec(statement));
      return {};
    }));
  }
  // Makes `to` what `from` is.
  static Result<void> load(Sql& from, Sql& to) {
    return from.read([&](Transaction& source) {
      return to.write([&](Transaction& target) -> Result<void> {
        TRY(clear_to_schema(target, newest_schema()));
        TableLoader loader(target);
        return dump_tables(source, loader);
      });
    });
  }
  static std::map<std::string, TableDigest> digests(Sql& sql) {
    TableCounter counter;
    must(sql.read([&](Transaction& tx) { return dump_tables(tx, counter); }));
    return counter.tables();
  }
  Scratch scratch_;
};

const std::vector<std::string> kSomeRows = {
    "INSERT INTO users (username, password_hash, is_admin, is_active, created_at) VALUES ('ann', '', 0, 1, "
    "0)",
    "INSERT INTO workgroups (name, description, created_at, require_change_window) VALUES ('team', '', 0, 0)",
    "INSERT INTO workgroup_members (workgroup, username) VALUES ('team', 'ann')",
    "INSERT INTO config (key, value, updated_at) VALUES ('k', x'00ff', 9)",
    "UPDATE storage_sweep SET began_at = 77",
};

TEST_F(Tables, StandAfterThoseThatTheyReferTo) {
  auto sql = database("one.db");
  std::vector<std::string> names;
  must(sql->read([&](Transaction& tx) -> Result<void> {
    for (const auto& table : TRY(list_tables(tx))) names.push_back(table.name);
    return {};
  }));
  auto place = [&](std::string_view name) { return std::ranges::find(names, name) - names.begin(); };
  EXPECT_LT(place("users"), place("workgroup_members"));
  EXPECT_LT(place("workgroups"), place("workgroup_members"));
  EXPECT_LT(place("jobs"), place("job_logs"));
  EXPECT_EQ(place("commit_marks"), std::ssize(names)) << "it belongs to a process";
}

TEST_F(Tables, AreTheSameInACopy) {
  auto from = database("from.db"), to = database("to.db");
  run(*from, kSomeRows);
  run(*to, {"INSERT INTO workgroups (name, description, created_at, require_change_window) VALUES ('old', "
            "'', 0, 0)"});
  must(load(*from, *to));
  EXPECT_EQ(digests(*from), digests(*to));
  run(*to, {"UPDATE config SET value = x'00fe'"});
  EXPECT_NE(digests(*from), digests(*to));
}

TEST_F(Tables, AreAllAsTheyWereWhenLoadingFails) {
  auto sql = database("one.db");
  run(*sql, kSomeRows);
  auto before = digests(*sql);
  auto failed = sql->write([&](Transaction& tx) -> Result<void> {
    TRY(clear_to_schema(tx, newest_schema()));
    TableLoader loader(tx);
    TRY(loader.begin({"users", {"username"}}));
    TRY(loader.row(Params({std::string("incomplete")})));
    return loader.end();
  });
  EXPECT_FALSE(failed);
  EXPECT_EQ(digests(*sql), before);
}

TEST_F(Tables, TakeNoTableAndNoColumnThatTheSchemaLacks) {
  auto sql = database("one.db");
  must(sql->write([](Transaction& tx) -> Result<void> {
    TableLoader loader(tx);
    EXPECT_EQ(loader.begin({"users; DROP TABLE users", {"username"}}).error().code, Code::integrity);
    EXPECT_EQ(loader.begin({"users", {"no_such_column"}}).error().code, Code::integrity);
    return {};
  }));
}

// A backup of an older release is loaded into its own schema, which then grows.
TEST_F(Tables, GrowFromAnOlderSchema) {
  auto sql = database("one.db");
  must(sql->write([](Transaction& tx) -> Result<void> {
    TRY(clear_to_schema(tx, 9));
    TableLoader loader(tx);
    TRY(loader.begin({"users", {"username", "password_hash", "is_admin", "is_active", "created_at"}}));
    TRY(loader.row(
        Params({std::string("ann"), std::string(), std::int64_t{1}, std::int64_t{1}, std::int64_t{5}})));
    TRY(loader.end());
    TRY(migrate_schema_to(tx, newest_schema()));
    EXPECT_TRUE(TRY(has_accounts(tx)));
    return {};
  }));
  EXPECT_EQ(must(schema_versions(*sql)).present, newest_schema());
}

}  // namespace
}  // namespace dash::db
