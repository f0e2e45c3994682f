#include "core/storage/assets/scope.hpp"

#include "core/db/each_of.hpp"

namespace dash::storage {
namespace {

Result<AssetScope> scope_of(db::Transaction& tx, const std::string& backend, const std::string& name) {
  auto rows =
      TRY(tx.query("SELECT workgroup FROM asset_scopes WHERE backend = $1 AND name = $2", {backend, name}));
  return rows.empty() ? AssetScope() : AssetScope(rows[0].text(0));
}

OrderedJson or_null(const AssetScope& workgroup) {
  return workgroup ? OrderedJson(*workgroup) : OrderedJson(nullptr);
}

}  // namespace

Failure asset_not_found(std::string_view name) {
  return fail(Code::not_found, "Asset '{}' not found.", name);
}

Result<void> check_access(const Principal& principal, const AssetScope& workgroup, AssetAccess access,
                          std::string_view name) {
  if (principal.is_admin) return {};
  if (!workgroup) return access == AssetAccess::remove ? require_admin(principal) : Result<void>();
  if (principal.is_member_of(*workgroup)) return {};
  if (access == AssetAccess::replace)
    return fail(Code::conflict,
                "'{}' is the name of an asset that belongs to another workgroup; choose another name", name);
  return asset_not_found(name);
}

Result<AssetScope> AssetScopes::get(const std::string& backend, const std::string& name) {
  return db::read<AssetScope>(sql_, [&](db::Transaction& tx) { return scope_of(tx, backend, name); });
}

Result<std::map<std::string, std::string>> AssetScopes::list(db::Transaction& tx, const std::string& backend,
                                                             std::span<const std::string> names) {
  std::map<std::string, std::string> scopes;
  TRY(db::each_of(tx, "SELECT name, workgroup FROM asset_scopes WHERE backend = $1 AND name IN ({0})",
                  {backend}, names, [&](const db::Row& row) -> Result<void> {
                    scopes.emplace(row.text(0), row.text(1));
                    return {};
                  }));
  return scopes;
}

Result<void> AssetScopes::check(const Principal& principal, const std::string& backend,
                                const std::string& name, AssetAccess access) {
  return check_access(principal, TRY(get(backend, name)), access, name);
}

Result<void> AssetScopes::set(const Principal& principal, const std::string& backend, const std::string& name,
                              const AssetScope& workgroup) {
  return sql_.write([&](db::Transaction& tx) -> Result<void> {
    auto previous = TRY(scope_of(tx, backend, name));
    if (workgroup && TRY(tx.query("SELECT 1 FROM workgroups WHERE name = $1", {*workgroup})).empty())
      return fail(Code::invalid, "there is no workgroup '{}'; add it first, or send null for global",
                  *workgroup);
    TRY(put(tx, backend, name, workgroup));
    OrderedJson details{{"backend", backend},
                        {"name", name},
                        {"workgroup", or_null(workgroup)},
                        {"previous", or_null(previous)}};
    TRY(audit_.append(tx,
                      audit::make_event(principal, "storage_asset_scope_update", name, std::move(details))));
    return {};
  });
}

Result<void> AssetScopes::put(db::Transaction& tx, const std::string& backend, const std::string& name,
                              const AssetScope& workgroup) {
  if (!workgroup) return drop(tx, backend, name);
  TRY(tx.exec(R"(INSERT INTO asset_scopes (backend, name, workgroup)
                 VALUES ($1, $2, $3)
                 ON CONFLICT (backend, name) DO UPDATE SET workgroup = excluded.workgroup)",
              {backend, name, *workgroup}));
  return {};
}

Result<void> AssetScopes::drop(db::Transaction& tx, const std::string& backend, const std::string& name) {
  TRY(tx.exec("DELETE FROM asset_scopes WHERE backend = $1 AND name = $2", {backend, name}));
  return {};
}

Result<bool> workgroup_has_assets(db::Transaction& tx, const std::string& workgroup) {
  return !TRY(tx.query("SELECT 1 FROM asset_scopes WHERE workgroup = $1 LIMIT 1", {workgroup})).empty();
}

}  // namespace dash::storage
