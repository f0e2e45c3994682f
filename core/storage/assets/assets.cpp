#include "core/storage/assets/assets.hpp"

#include <algorithm>
#include <array>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/storage/assets/records.hpp"
#include "core/storage/store/cursor.hpp"
#include "core/storage/store/key.hpp"
#include "core/storage/store/names.hpp"

namespace dash::storage {
namespace {

// Objects that another program placed under the prefix have any extension or none.
std::string_view type_of(std::string_view name) { return asset_type(name).value_or("other"); }

// The dashboard's own folders at the root of a store. They are no assets where assets are at the root too (a
// file system has no prefix).
constexpr std::array<std::string_view, 2> kOwnFolders{"iac-state/", "dashctl-audit/"};

bool is_asset(const OpenBackend& at, std::string_view name) {
  bool is_own = at.prefix.empty() &&
                std::ranges::any_of(kOwnFolders, [&](auto folder) { return name.starts_with(folder); });
  return !is_own && check_key(name).has_value();
}

// Calls `each` for every object under the prefix, page by page. Keys that no other call could name are left
// out (a folder's placeholder "dir/", a segment "..").
Result<void> for_each_asset(const OpenBackend& at,
                            const std::function<void(std::string_view name, const Object&)>& each) {
  std::string cursor;
  do {
    auto page = at.store->list(at.prefix, cursor);
    if (!page && page.error().code == Code::not_found) page.error().code = Code::upstream;  // the bucket
    if (!page) return Failure(std::move(page).error());
    for (const auto& object : page->objects) {
      std::string_view name = object.key;
      if (!name.starts_with(at.prefix)) continue;
      name.remove_prefix(at.prefix.size());
      if (is_asset(at, name)) each(name, object);
    }
    TRY(advance_cursor(cursor, std::move(page->cursor)));
  } while (!cursor.empty());
  return {};
}

std::string find_digest(const RecordedDigests& known, const std::string& name, const Object& object) {
  if (!object.digest.empty()) return object.digest;
  auto it = known.find(name);
  return it != known.end() && it->second.etag == object.etag ? it->second.digest : std::string();
}

}  // namespace

Result<AssetList> Assets::list(const Principal& principal) {
  return list_backend(principal, TRY(deps_.stores.open(principal, "")));
}

Result<AssetList> Assets::list(const Principal& principal, std::string_view backend) {
  TRY(require_admin(principal));
  return list_backend(principal, TRY(deps_.stores.open(principal, backend)));
}

Result<AssetList> Assets::list_backend(const Principal& principal, const OpenBackend& at) {
  auto scopes = TRY(deps_.scopes.all(at.id()));
  auto digests = TRY(db::read<RecordedDigests>(
      deps_.sql, [&](db::Transaction& tx) { return list_digests(tx, at.store->place()); }));
  AssetList listing{at.display_id(), {}};
  TRY(for_each_asset(at, [&](std::string_view name, const Object& object) {
    std::string text(name);
    auto scope = scopes.find(text);
    auto workgroup = scope == scopes.end() ? AssetScope() : AssetScope(scope->second);
    if (!check_access(principal, workgroup, AssetAccess::read, name)) return;
    auto digest = find_digest(digests, text, object);
    listing.items.push_back({std::move(text), type_of(name), object.size, listing.backend,
                             std::move(workgroup), std::move(digest)});
  }));
  std::ranges::sort(listing.items, {}, &Asset::name);
  return listing;
}

Result<std::vector<Asset>> Assets::list_all(const Principal& principal) {
  auto settings = TRY(deps_.stores.settings());
  std::vector<Asset> all;
  for (const auto& backend : backends()) {
    if (!is_configured(backend, settings->values())) continue;
    auto at = deps_.stores.open(principal, backend.id);
    auto listing = at ? list_backend(principal, *at) : Result<AssetList>(Failure(at.error()));
    if (!listing) {
      log::warning("storage.list_failed", {{"backend", backend.id}, {"error", listing.error().message}});
      continue;
    }
    std::ranges::move(listing->items, std::back_inserter(all));
  }
  return all;
}

Result<std::string> Assets::digest_of(const OpenBackend& at, const std::string& name, const Object& object) {
  return db::read<std::string>(
      deps_.sql, [&](db::Transaction& tx) { return recorded_digest(tx, at.store->place(), name, object); });
}

Result<FindResult> Assets::find(const Principal& principal, std::string_view backend,
                                const std::string& name) {
  auto look = [](ObjectStore& store, const std::string& key) { return store.head(key); };
  return find_by(look, principal, backend, name);
}

Result<std::pair<FindResult, std::size_t>> Assets::open(const Principal& principal, std::string_view backend,
                                                        const std::string& name, std::span<char> first) {
  std::size_t size = 0;
  auto look = [&](ObjectStore& store, const std::string& key) -> Result<Object> {
    auto opening = TRY(store.open(key, first));
    size = opening.size;
    return std::move(opening.object);
  };
  auto found = TRY(find_by(look, principal, backend, name));
  return std::pair(std::move(found), size);
}

Result<FindResult> Assets::find_by(const ReadObject& look, const Principal& principal,
                                   std::string_view backend, const std::string& name) {
  auto at = deps_.stores.open(principal, backend);
  if (!at && at.error().code == Code::invalid) return fail(Code::not_found, "{}", at.error().message);
  auto opened = TRY(std::move(at));
  if (!is_asset(opened, name)) return asset_not_found(name);
  auto workgroup = TRY(deps_.scopes.get(opened.id(), name));
  TRY(check_access(principal, workgroup, AssetAccess::read, name));
  auto key = opened.key_of(name);
  auto object = look(*opened.store, key);
  // Code::invalid: no such name can exist there (a dot folder in a folder, a colon on a share).
  if (!object && (object.error().code == Code::not_found || object.error().code == Code::invalid))
    return asset_not_found(name);
  auto head = TRY(std::move(object));
  auto digest = TRY(digest_of(opened, name, head));
  Asset asset{name, type_of(name), head.size, opened.display_id(), std::move(workgroup), std::move(digest)};
  return FindResult{std::move(asset), std::move(head), std::move(key), opened.store};
}

Result<void> Assets::remove(const Principal& principal, const std::string& name, std::string_view backend) {
  auto at = TRY(deps_.stores.open(principal, backend));
  auto found = TRY(find(principal, at.id(), name));
  TRY(deps_.scopes.check(principal, at.id(), name, AssetAccess::remove));
  auto removed = at.store->remove(found.key);
  if (!removed && removed.error().code == Code::not_found) return asset_not_found(name);
  TRY(std::move(removed));
  return deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(AssetScopes::drop(tx, at.id(), name));
    TRY(remove_digest(tx, at.store->place(), name));
    OrderedJson details{{"backend", at.id()}, {"size", found.object.size}};
    if (found.asset.workgroup) details["workgroup"] = *found.asset.workgroup;
    TRY(deps_.audit.append(tx, audit::make_event(principal, "storage.delete", name, std::move(details))));
    return {};
  });
}

Result<RemoveResult> Assets::remove_many(const Principal& principal, const std::vector<AssetRef>& items) {
  if (items.empty()) return fail(Code::invalid, "No items to delete.");
  RemoveResult result;
  for (const auto& item : items) {
    if (auto removed = remove(principal, item.name, item.backend); removed)
      result.deleted.push_back(item);
    else
      result.failed.push_back({item, removed.error().message});
  }
  return result;
}

Result<Asset> Assets::set_scope(const Principal& principal, std::string_view backend, const std::string& name,
                                const AssetScope& workgroup) {
  TRY(require_admin(principal));
  auto at = TRY(deps_.stores.open(principal, backend));
  auto folded = workgroup && !trim(*workgroup).empty() ? AssetScope(lower(trim(*workgroup))) : AssetScope();
  auto found = find(principal, at.id(), name);
  // The object was removed by another program: its scope can still be removed.
  auto is_lifting = !folded && TRY(deps_.scopes.get(at.id(), name)).has_value();
  if (!found && !(found.error().code == Code::not_found && is_lifting))
    return Failure(std::move(found).error());
  TRY(deps_.scopes.set(principal, at.id(), name, folded));
  auto asset = found ? std::move(found->asset) : Asset{name, type_of(name), 0, at.display_id(), {}, ""};
  asset.workgroup = std::move(folded);
  return asset;
}

Result<ProbeResult> Assets::test(const Principal& principal, std::string_view backend) {
  TRY(require_admin(principal));
  auto style = name_style_of(TRY(deps_.stores.settings())->values());
  TRY(find_backend(trim(backend), style));
  auto at = deps_.stores.open(principal, backend);
  if (!at) return ProbeResult{0, at.error().message};
  ProbeResult probe;
  if (auto forgotten = at->store->forget_listing(); !forgotten)
    return ProbeResult{0, forgotten.error().message};
  auto listed = for_each_asset(*at, [&](std::string_view, const Object&) { ++probe.count; });
  if (!listed) return ProbeResult{0, listed.error().message};
  return probe;
}

OrderedJson to_json(const Asset& asset) {
  auto or_null = [](const auto& text, bool known) {
    return known ? OrderedJson(text) : OrderedJson(nullptr);
  };
  return {{"name", asset.name},
          {"type", asset.type},
          {"size", asset.size},
          {"backend", asset.backend},
          {"workgroup", or_null(asset.workgroup.value_or(""), asset.workgroup.has_value())},
          {"digest", or_null(asset.digest, !asset.digest.empty())}};
}

OrderedJson to_json(const AssetList& listing) {
  auto items = OrderedJson::array();
  for (const auto& asset : listing.items) items.push_back(to_json(asset));
  return {{"backend", listing.backend}, {"items", std::move(items)}, {"count", listing.items.size()}};
}

OrderedJson to_json(const RemoveResult& result) {
  auto deleted = OrderedJson::array();
  for (const auto& item : result.deleted) deleted.push_back({{"name", item.name}, {"backend", item.backend}});
  auto failed = OrderedJson::array();
  for (const auto& [item, error] : result.failed)
    failed.push_back({{"name", item.name}, {"backend", item.backend}, {"error", error}});
  return {{"deleted", std::move(deleted)},
          {"failed", std::move(failed)},
          {"summary", fmt::format("{} deleted, {} failed", result.deleted.size(), result.failed.size())}};
}

OrderedJson to_json(const ProbeResult& probe) {
  if (!probe.error.empty()) return {{"ok", false}, {"error", probe.error}};
  return {{"ok", true}, {"count", probe.count}};
}

}  // namespace dash::storage
