#include "core/storage/assets/scope.hpp"

#include <gtest/gtest.h>

#include "core/identity/directory.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/scratch.hpp"

namespace dash::storage {
namespace {

Principal user(std::string name, std::set<std::string> workgroups = {}, bool admin = false) {
  Principal principal;
  principal.username = std::move(name);
  principal.workgroups = std::move(workgroups);
  principal.is_admin = admin;
  return principal;
}

std::string code_of(const Result<void>& result) {
  return result ? "ok" : std::string(info(result.error().code).word);
}

class ScopeTest : public ::testing::Test {
 protected:
  ScopeTest() {
    must(sql->write([&](db::Transaction& tx) -> Result<void> {
      TRY(identity::Directory(*sql, clock).make_workgroup(tx, "web", ""));
      return identity::Directory(*sql, clock).make_workgroup(tx, "data", "");
    }));
  }
  std::int64_t audited() {
    return must(db::read<std::int64_t>(*sql, [](db::Transaction& tx) -> Result<std::int64_t> {
      return TRY(tx.query("SELECT COUNT(*) FROM audit_log WHERE action = 'storage_asset_scope_update'"))[0]
          .integer(0);
    }));
  }
  Scratch scratch;
  FakeClock clock;
  std::unique_ptr<db::Sql> sql = scratch_database(scratch);
  audit::Log audit{*sql, clock, Secret(std::string(32, 'a'))};
  AssetScopes scopes{*sql, audit};
  Principal admin = user("root", {}, true), member = user("ann", {"web"}), other = user("bob", {"data"});
};

}  // namespace

TEST(ScopeRule, IsTheTableOfTheSpec) {
  auto admin = user("root", {}, true), member = user("ann", {"web"}), other = user("bob", {"data"}),
       none = user("eve");
  AssetScope web = "web", global;
  struct {
    const Principal& principal;
    const AssetScope& scope;
    const char *see, *replace, *remove;
  } rows[] = {
      {admin, web, "ok", "ok", "ok"},
      {admin, global, "ok", "ok", "ok"},
      {member, web, "ok", "ok", "ok"},
      {member, global, "ok", "ok", "forbidden"},
      {other, web, "not_found", "conflict", "not_found"},
      {other, global, "ok", "ok", "forbidden"},
      {none, web, "not_found", "conflict", "not_found"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(code_of(check_access(row.principal, row.scope, AssetAccess::read, "a.yml")), row.see)
        << row.principal.username;
    EXPECT_EQ(code_of(check_access(row.principal, row.scope, AssetAccess::replace, "a.yml")), row.replace)
        << row.principal.username;
    EXPECT_EQ(code_of(check_access(row.principal, row.scope, AssetAccess::remove, "a.yml")), row.remove)
        << row.principal.username;
  }
}

TEST(ScopeRule, HidesAnAssetWithTheWordsOfAnAbsentOneAndNeverNamesTheWorkgroup) {
  auto hidden = check_access(user("bob"), AssetScope("web"), AssetAccess::read, "a.yml").error();
  EXPECT_EQ(hidden.message, asset_not_found("a.yml").value().message);
  EXPECT_EQ(
      check_access(user("bob"), AssetScope("web"), AssetAccess::replace, "a.yml").error().message.find("web"),
      std::string::npos);
}

TEST_F(ScopeTest, HoldsForOneNameOnOneBackend) {
  must(scopes.set(admin, "local", "a.yml", "web"));
  EXPECT_EQ(code_of(scopes.check(other, "local", "a.yml", AssetAccess::read)), "not_found");
  EXPECT_EQ(code_of(scopes.check(other, "obj_cloud1", "a.yml", AssetAccess::read)), "ok");
  EXPECT_EQ(code_of(scopes.check(other, "local", "A.yml", AssetAccess::read)), "ok");
  using Map = std::map<std::string, std::string>;
  std::vector<std::string> names{"A.yml", "a.yml"};
  auto found =
      must(db::read<Map>(*sql, [&](db::Transaction& tx) { return AssetScopes::list(tx, "local", names); }));
  EXPECT_EQ(found, (Map{{"a.yml", "web"}}));
}

TEST_F(ScopeTest, IsAuditedWithWhatItWasBefore) {
  must(scopes.set(admin, "local", "a.yml", "web"));
  must(scopes.set(admin, "local", "a.yml", std::nullopt));
  EXPECT_EQ(audited(), 2);
  auto details = must(db::read<std::string>(*sql, [](db::Transaction& tx) -> Result<std::string> {
    return TRY(tx.query("SELECT details FROM audit_log ORDER BY seq DESC LIMIT 1"))[0].text(0);
  }));
  EXPECT_EQ(must(parse_json(details)),
            must(parse_json(R"({"backend":"local","name":"a.yml","workgroup":null,"previous":"web"})")));
  EXPECT_EQ(must(scopes.get("local", "a.yml")), std::nullopt);
}

TEST_F(ScopeTest, RefusesAnUnknownWorkgroupAndAuditsNothing) {
  EXPECT_EQ(code_of(scopes.set(admin, "local", "a.yml", "nobody")), "invalid");
  EXPECT_EQ(audited(), 0);
}

TEST_F(ScopeTest, KeepsAWorkgroupThatHasAssets) {
  must(scopes.set(admin, "local", "a.yml", "web"));
  auto in_use = [&](const std::string& name) {
    return must(db::read<bool>(*sql, [&](db::Transaction& tx) { return workgroup_has_assets(tx, name); }));
  };
  EXPECT_TRUE(in_use("web"));
  EXPECT_FALSE(in_use("data"));
  EXPECT_FALSE(sql->write([](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec("DELETE FROM workgroups WHERE name = 'web'"));
    return {};
  }));
  must(scopes.set(admin, "local", "a.yml", std::nullopt));
  EXPECT_FALSE(in_use("web"));
}

}  // namespace dash::storage
