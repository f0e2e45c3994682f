#include "core/storage/assets/migration.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "core/base/text.hpp"
#include "core/storage/assets/records.hpp"
#include "core/storage/store/copy.hpp"

namespace dash::storage {
namespace {

constexpr std::size_t kMaxParallelCopies = 4;  // each borrows one buffer

std::set<std::string> names_of(const AssetList& listing) {
  std::set<std::string> names;
  for (const auto& item : listing.items) names.insert(item.name);
  return names;
}

// Calls `work` with each index below `count`, several at a time.
void for_each_index(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  auto worker = [&] {
    for (auto i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < std::min(kMaxParallelCopies, count); ++i) threads.emplace_back(worker);
}

Result<void> set_scope(db::Sql& sql, const std::string& backend, const std::string& name,
                       const AssetScope& workgroup) {
  return sql.write([&](db::Transaction& tx) { return AssetScopes::put(tx, backend, name, workgroup); });
}

}  // namespace

Result<BackendPair> open_two_backends(Stores& stores, const Principal& principal, std::string_view from,
                                      std::string_view to) {
  auto style = name_style_of(TRY(stores.settings())->values());
  auto same = fail(Code::invalid, "Source and target must differ.");
  if (TRY(find_backend(trim(from), style)) == TRY(find_backend(trim(to), style))) return same;
  BackendPair pair;
  pair.from = TRY(stores.open(principal, from));
  pair.to = TRY(stores.open(principal, to));
  if (pair.from.store->place() == pair.to.store->place()) return same;
  return pair;
}

// Narrows the scope before the bytes are copied and widens it after, so that no user can read more than the
// scope allows.
Result<Migration::CopyOutcome> Migration::copy(const Principal& principal, const OpenBackend& from,
                                               const OpenBackend& to, const std::string& name,
                                               bool overwrite) {
  TRY(to.store->check_target(to.key_of(name)));
  auto found = TRY(deps_.assets.find(principal, from.id(), name));
  auto scope = found.asset.workgroup;
  auto before = TRY(deps_.scopes.get(to.id(), name));
  auto is_first = !before.has_value();
  if (is_first) TRY(set_scope(deps_.sql, to.id(), name, scope));
  auto copied = copy_object({*found.store, found.object, found.asset.digest}, *to.store, to.key_of(name),
                            {.only_if_absent = !overwrite}, deps_.buffers);
  if (!copied) {
    if (is_first && scope) TRY(set_scope(deps_.sql, to.id(), name, before));
    // A store also reports a conflict where another spelling of the name is taken.
    if (copied.error().code == Code::conflict && !overwrite && to.store->head(to.key_of(name)))
      return CopyOutcome::taken;
    return Failure(std::move(copied).error());
  }
  TRY(deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(AssetScopes::put(tx, to.id(), name, scope));
    return record_digest(tx, to.store->place(), name, copied->object.etag, copied->digest);
  }));
  return CopyOutcome::copied;
}

Result<MigrateReport> Migration::run(const Principal& principal, const MigrateRequest& request,
                                     Progress& progress) {
  TRY(require_admin(principal));
  auto pair = TRY(open_two_backends(deps_.stores, principal, request.source, request.target));
  auto source = TRY(within("listing the source", deps_.assets.list(principal, pair.from.id())));
  auto taken = names_of(TRY(within("listing the target", deps_.assets.list(principal, pair.to.id()))));
  MigrateReport report{pair.from.display_id(), pair.to.display_id(), request.is_dry_run, {}, {}, {}};
  std::vector<std::string> names;
  for (const auto& item : source.items)
    (request.overwrite || !taken.contains(item.name) ? names : report.skipped).push_back(item.name);
  if (request.is_dry_run) {
    for (auto& name : names) {
      auto checked = pair.to.store->check_target(pair.to.key_of(name));
      if (checked)
        report.copied.push_back(std::move(name));
      else
        report.failed.push_back({std::move(name), checked.error().message});
    }
    return report;
  }
  std::vector<std::optional<Result<CopyOutcome>>> outcomes(names.size());
  std::atomic<std::size_t> done = 0;
  for_each_index(names.size(), [&](std::size_t i) {
    outcomes[i] = copy(principal, pair.from, pair.to, names[i], request.overwrite);
    progress.update("assets", ++done, names.size());
  });
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto& outcome = *outcomes[i];
    if (!outcome)
      report.failed.push_back({names[i], outcome.error().message});
    else
      (*outcome == CopyOutcome::copied ? report.copied : report.skipped).push_back(names[i]);
  }
  std::ranges::sort(report.skipped);
  TRY(record(principal, report, request.overwrite));
  return report;
}

Result<void> Migration::record(const Principal& principal, const MigrateReport& report, bool overwrite) {
  return deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    OrderedJson details{{"source", report.source},          {"target", report.target},
                        {"overwrite", overwrite},           {"copied", report.copied.size()},
                        {"skipped", report.skipped.size()}, {"failed", report.failed.size()}};
    TRY(deps_.audit.append(
        tx, audit::make_event(principal, "storage.migrate", std::nullopt, std::move(details))));
    return {};
  });
}

Result<MoveResult> Migration::move(const Principal& principal, const std::string& name, std::string_view from,
                                   std::string_view to, bool overwrite) {
  TRY(require_admin(principal));
  auto pair = TRY(open_two_backends(deps_.stores, principal, from, to));
  if (TRY(copy(principal, pair.from, pair.to, name, overwrite)) == CopyOutcome::taken)
    return fail(Code::conflict, "'{}' is already on '{}'; send overwrite: true to replace it", name,
                pair.to.display_id());
  if (auto removed = deps_.assets.remove(principal, name, pair.from.id()); !removed)
    return fail(removed.error().code, "'{}' is on '{}' now, and is still on '{}': {}", name,
                pair.to.display_id(), pair.from.display_id(), removed.error().message);
  TRY(deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    OrderedJson details{{"from", pair.from.id()}, {"to", pair.to.id()}};
    TRY(deps_.audit.append(tx, audit::make_event(principal, "storage.move", name, std::move(details))));
    return {};
  }));
  return MoveResult{name, pair.from.display_id(), pair.to.display_id()};
}

OrderedJson to_json(const MigrateReport& report) {
  auto failed = OrderedJson::array();
  for (const auto& item : report.failed) failed.push_back({{"name", item.name}, {"error", item.error}});
  OrderedJson json{
      {"source", report.source},
      {"target", report.target},
      {"copied", report.copied},
      {"skipped", report.skipped},
      {"failed", std::move(failed)},
      {"summary", fmt::format("{} copied, {} skipped (already in target), {} failed", report.copied.size(),
                              report.skipped.size(), report.failed.size())}};
  if (report.is_dry_run) json["dry_run"] = true;
  return json;
}

OrderedJson to_json(const MoveResult& moved) {
  return {{"ok", true}, {"moved", moved.name}, {"from", moved.from}, {"to", moved.to}};
}

}  // namespace dash::storage
