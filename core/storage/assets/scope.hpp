// The access rule of a workgroup's assets. Every path that lists, reads, replaces, runs or deletes an asset
// applies it. An asset without a scope is global. Backends are canonical ids. Thread-safe.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/audit/log.hpp"
#include "core/base/principal.hpp"
#include "core/db/sql.hpp"

namespace dash::storage {

using AssetScope = std::optional<std::string>;  // nullopt: global

enum class AssetAccess {
  read,     // list, fetch, run
  replace,  // upload under the name
  remove,   // delete
};

// Returns the one sentence for an asset that does not exist and for one that the caller may not see.
Failure asset_not_found(std::string_view name);

// The rule. read, remove: members and admins, Code::not_found for others; every user reads a global asset,
// and admins delete it (Code::forbidden). replace: members and admins, Code::conflict for others; every user
// replaces a global asset.
Result<void> check_access(const Principal& principal, const AssetScope& workgroup, AssetAccess access,
                          std::string_view name);

class AssetScopes {
 public:
  AssetScopes(db::Sql& sql, audit::Log& audit) : sql_(sql), audit_(audit) {}

  Result<AssetScope> get(const std::string& backend, const std::string& name);
  // Returns name → workgroup of those of the assets of one backend that have a scope.
  static Result<std::map<std::string, std::string>> list(db::Transaction& tx, const std::string& backend,
                                                         std::span<const std::string> names);
  // Calls check_access() with the asset's current scope.
  Result<void> check(const Principal& principal, const std::string& backend, const std::string& name,
                     AssetAccess access);

  // Sets the scope, audited as storage_asset_scope_update. Code::invalid for an unknown workgroup.
  // Precondition: the caller is an admin and the asset exists.
  Result<void> set(const Principal& principal, const std::string& backend, const std::string& name,
                   const AssetScope& workgroup);
  // Sets the scope of a copied asset. Not audited, because the copy is.
  static Result<void> put(db::Transaction& tx, const std::string& backend, const std::string& name,
                          const AssetScope& workgroup);
  // Call it inside of the transaction that records the deletion.
  static Result<void> drop(db::Transaction& tx, const std::string& backend, const std::string& name);

 private:
  db::Sql& sql_;
  audit::Log& audit_;
};

// Returns whether a workgroup has assets, and therefore cannot be deleted.
Result<bool> workgroup_has_assets(db::Transaction& tx, const std::string& workgroup);

}  // namespace dash::storage
