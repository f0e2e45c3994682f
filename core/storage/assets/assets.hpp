// The stored assets: list, fetch, delete, scope, reachability probe. Every call checks the scope. An asset
// that the caller may not see is as absent as one that does not exist. Thread-safe.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/audit/log.hpp"
#include "core/base/principal.hpp"
#include "core/base/secret.hpp"
#include "core/storage/assets/scope.hpp"
#include "core/storage/settings/stores.hpp"

namespace dash::storage {

struct Asset {
  std::string name;
  std::string_view type;
  std::uint64_t size = 0;
  std::string backend;  // as this instance spells it
  AssetScope workgroup;
  std::string digest;  // "" when not known
};
struct AssetList {
  std::string backend;
  std::vector<Asset> items;  // by name, byte order
};
struct AssetPage {
  std::string backend;
  std::vector<Asset> items;  // by name, byte order; may be empty before the last page
  std::string next;          // the cursor of the next page; "" after the last
};
// Where a listing of every backend goes on.
struct AllPosition {
  std::size_t backend = 0;  // in the fixed order
  std::string cursor;       // the store's own
  bool is_end = false;
};
struct FindResult {
  Asset asset;
  Object object;
  std::string key;
  std::shared_ptr<ObjectStore> store;
};
struct AssetRef {
  std::string backend;  // in either spelling; blank: the active one
  std::string name;
};
struct RemoveResult {
  struct Failed {
    AssetRef item;
    std::string error;
  };
  std::vector<AssetRef> deleted;
  std::vector<Failed> failed;
};
struct ProbeResult {
  std::size_t count = 0;
  std::string error;  // "" when reachable
};

OrderedJson to_json(const Asset&);
// Appends the text of to_json(), without the tree, which costs ten times as much.
void append_json(std::string& out, const Asset&);
OrderedJson to_json(const AssetPage&);  // {backend, items, count, next}; count is of the page
// {deleted: [{name, backend}], failed: [{name, backend, error}], summary}
OrderedJson to_json(const RemoveResult&);
OrderedJson to_json(const ProbeResult&);

class Assets {
 public:
  struct Deps {
    Stores& stores;
    AssetScopes& scopes;
    db::Sql& sql;
    audit::Log& audit;
    Secret key;  // seals the cursors of listings
  };
  explicit Assets(Deps deps) : deps_(std::move(deps)) {}

  // Lists the active backend, for every user.
  Result<AssetList> list(const Principal& principal);
  // Lists a named backend, for admins.
  Result<AssetList> list(const Principal& principal, std::string_view backend);
  // Lists a page of the active backend, for every user, or of a named one, for admins. Each page is after those
  // before it. Cursor "": the first page. Code::invalid for one of another listing.
  Result<AssetPage> list_page(const Principal& principal, std::optional<std::string_view> backend,
                              std::string_view cursor);
  // Lists a page of an open backend, after the store's own cursor, and returns that of the next one in `next`.
  // The caller knows that the principal may list it.
  Result<AssetPage> list_after(const Principal& principal, const OpenBackend& at, const std::string& cursor);
  // Lists a page of every configured backend, in their fixed order, and moves `position` on. May be empty before
  // the end. What cannot be listed of a backend is left out and logged.
  Result<std::vector<Asset>> list_all(const Principal& principal, AllPosition& position);
  // Finds an asset. Blank backend: the active one. Code::not_found for every asset that the caller cannot
  // read, and for an unknown backend.
  Result<FindResult> find(const Principal& principal, std::string_view backend, const std::string& name);
  // Calls find() and reads the first bytes of the content into `first`. Returns how many.
  Result<std::pair<FindResult, std::size_t>> open(const Principal& principal, std::string_view backend,
                                                  const std::string& name, std::span<char> first);
  // Deletes an asset and its scope. Blank backend: the active one.
  Result<void> remove(const Principal& principal, const std::string& name, std::string_view backend = "");
  // Deletes several. A failure does not end the run. Code::invalid for an empty list.
  Result<RemoveResult> remove_many(const Principal& principal, const std::vector<AssetRef>& items);
  // Sets the scope and returns the changed asset. Blank backend: the active one.
  Result<Asset> set_scope(const Principal& principal, std::string_view backend, const std::string& name,
                          const AssetScope& workgroup);
  // Lists the backend and returns a failure as a result. Code::invalid for an unknown backend.
  Result<ProbeResult> test(const Principal& principal, std::string_view backend);

 private:
  using ReadObject = std::function<Result<Object>(ObjectStore& store, const std::string& key)>;
  Result<FindResult> find_by(const ReadObject& look, const Principal& principal, std::string_view backend,
                             const std::string& name);
  Result<AssetList> list_backend(const Principal& principal, const OpenBackend& at);
  Result<std::string> digest_of(const OpenBackend& at, const std::string& name, const Object& object);
  Deps deps_;
};

}  // namespace dash::storage
