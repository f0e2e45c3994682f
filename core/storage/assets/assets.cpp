#include "core/storage/assets/assets.hpp"

#include <algorithm>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/storage/assets/asset_list.hpp"
#include "core/storage/assets/records.hpp"

namespace dash::storage {
namespace {

// What this instance knows of a page's assets.
struct Known {
  std::map<std::string, std::string> scopes;
  RecordedDigests digests;
};
Result<Known> find_known(db::Sql& sql, const OpenBackend& at, const NamedPage& page) {
  std::vector<std::string> names;
  for (const auto& item : page.items) names.push_back(item.name);
  return db::read<Known>(sql, [&](db::Transaction& tx) -> Result<Known> {
    Known known;
    known.scopes = TRY(AssetScopes::list(tx, at.id(), names));
    known.digests = TRY(list_digests(tx, at.store->place(), names));
    return known;
  });
}

std::string find_digest(const RecordedDigests& known, const NamedObject& item) {
  if (!item.object.digest.empty()) return item.object.digest;
  auto it = known.find(item.name);
  return it != known.end() && it->second.etag == item.object.etag ? it->second.digest : std::string();
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
  AssetList listing{at.display_id(), {}};
  std::string cursor;
  do {
    auto page = TRY(list_after(principal, at, cursor));
    std::ranges::move(page.items, std::back_inserter(listing.items));
    cursor = std::move(page.next);
  } while (!cursor.empty());
  std::ranges::sort(listing.items, {}, &Asset::name);
  return listing;
}

Result<AssetPage> Assets::list_page(const Principal& principal, std::optional<std::string_view> backend,
                                    std::string_view cursor) {
  if (backend) TRY(require_admin(principal));
  auto at = TRY(deps_.stores.open(principal, backend.value_or("")));
  auto page = TRY(list_after(principal, at, TRY(open_cursor(deps_.key, at, cursor))));
  page.next = seal_cursor(deps_.key, at, page.next);
  return page;
}

Result<AssetPage> Assets::list_after(const Principal& principal, const OpenBackend& at,
                                     const std::string& cursor) {
  auto found = TRY(read_page(at, cursor));
  auto known = TRY(find_known(deps_.sql, at, found));
  AssetPage page{at.display_id(), {}, std::move(found.cursor)};
  for (auto& item : found.items) {
    auto scope = known.scopes.find(item.name);
    auto workgroup = scope == known.scopes.end() ? AssetScope() : AssetScope(scope->second);
    if (!check_access(principal, workgroup, AssetAccess::read, item.name)) continue;
    auto digest = find_digest(known.digests, item);
    auto type = type_of(item.name);
    page.items.push_back({std::move(item.name), type, item.object.size, page.backend, std::move(workgroup),
                          std::move(digest)});
  }
  return page;
}

Result<std::vector<Asset>> Assets::list_all(const Principal& principal, AllPosition& position) {
  auto settings = TRY(deps_.stores.settings());
  const auto all = backends();
  auto is_next = [&] { return is_configured(all[position.backend], settings->values()); };
  while (position.backend < all.size() && !is_next()) position = {position.backend + 1, "", false};
  position.is_end = position.backend == all.size();
  if (position.is_end) return std::vector<Asset>();
  const auto& backend = all[position.backend];
  auto at = deps_.stores.open(principal, backend.id);
  auto page = at ? list_after(principal, *at, position.cursor) : Result<AssetPage>(Failure(at.error()));
  if (!page) log::warning("storage.list_failed", {{"backend", backend.id}, {"error", page.error().message}});
  position.cursor = page ? std::move(page->next) : "";
  if (position.cursor.empty()) ++position.backend;
  return page ? std::move(page->items) : std::vector<Asset>();
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
  std::string cursor;
  do {
    auto page = read_page(*at, cursor);
    if (!page) return ProbeResult{0, page.error().message};
    probe.count += page->items.size();
    cursor = std::move(page->cursor);
  } while (!cursor.empty());
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

void append_json(std::string& out, const Asset& asset) {
  auto add = [&](std::string_view name, std::string_view text, bool known = true) {
    out += name;
    known ? dash::append_json(out, text) : void(out += "null");
  };
  add(R"({"name":)", asset.name);
  add(R"(,"type":)", asset.type);
  out += fmt::format(R"(,"size":{})", asset.size);
  add(R"(,"backend":)", asset.backend);
  add(R"(,"workgroup":)", asset.workgroup.value_or(""), asset.workgroup.has_value());
  add(R"(,"digest":)", asset.digest, !asset.digest.empty());
  out += '}';
}

OrderedJson to_json(const AssetPage& page) {
  auto items = OrderedJson::array();
  for (const auto& asset : page.items) items.push_back(to_json(asset));
  auto next = page.next.empty() ? OrderedJson(nullptr) : OrderedJson(page.next);
  return {{"backend", page.backend},
          {"items", std::move(items)},
          {"count", page.items.size()},
          {"next", std::move(next)}};
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
