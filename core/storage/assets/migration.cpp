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

constexpr std::size_t kAtOnce = 4;  // assets; each borrows one buffer

std::set<std::string> names_of(const Listing& listing) {
  std::set<std::string> names;
  for (const auto& item : listing.items) names.insert(item.name);
  return names;
}

// Calls `work` with each index below `count`, several at a time.
void each_index(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  auto take_turns = [&] {
    for (auto i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < std::min(kAtOnce, count); ++i) threads.emplace_back(take_turns);
}

Result<void> set_scope(db::Sql& sql, const std::string& backend, const std::string& name,
                       const Workgroup& workgroup) {
  return sql.write([&](db::Transaction& tx) { return Scopes::carry(tx, backend, name, workgroup); });
}

}  // namespace

Result<BackendPair> open_two_backends(Stores& stores, const Principal& who, std::string_view from,
                                      std::string_view to) {
  auto spelling = spelling_of(TRY(stores.values()));
  auto same = fail(Code::invalid, "Source and target must differ.");
  if (TRY(find_backend(trim(from), spelling)) == TRY(find_backend(trim(to), spelling))) return same;
  BackendPair pair;
  pair.from = TRY(stores.open(who, from));
  pair.to = TRY(stores.open(who, to));
  if (pair.from.store->place() == pair.to.store->place()) return same;
  return pair;
}

// The scope is narrowed before the bytes are there and widened after, so that nobody sees what he may not.
Result<Migration::Outcome> Migration::copy(const Principal& who, const Opened& from, const Opened& to,
                                           const std::string& name, bool overwrite) {
  TRY(to.store->check_target(to.key_of(name)));
  auto found = TRY(seams_.assets.find(who, from.id(), name));
  auto scope = found.asset.workgroup;
  auto before = TRY(seams_.scopes.of(to.id(), name));
  auto is_first = !before.has_value();
  if (is_first) TRY(set_scope(seams_.sql, to.id(), name, scope));
  auto copied = copy_object({*found.store, found.object, found.asset.digest}, *to.store, to.key_of(name),
                            !overwrite, seams_.parts);
  if (!copied) {
    if (is_first && scope) TRY(set_scope(seams_.sql, to.id(), name, before));
    // A store also reports a conflict where another spelling of the name is taken.
    if (copied.error().code == Code::conflict && !overwrite && to.store->head(to.key_of(name)))
      return Outcome::taken;
    return Failure(std::move(copied).error());
  }
  TRY(seams_.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(Scopes::carry(tx, to.id(), name, scope));
    return remember_digest(tx, to.store->place(), name, copied->object.etag, copied->digest);
  }));
  return Outcome::copied;
}

Result<MigrateReport> Migration::run(const Principal& who, const MigrateRequest& request,
                                     Progress& progress) {
  TRY(require_admin(who));
  auto pair = TRY(open_two_backends(seams_.stores, who, request.source, request.target));
  auto source = TRY(within("listing the source", seams_.assets.list(who, pair.from.id())));
  auto taken = names_of(TRY(within("listing the target", seams_.assets.list(who, pair.to.id()))));
  MigrateReport report{pair.from.shown_id(), pair.to.shown_id(), request.is_dry_run, {}, {}, {}};
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
  std::vector<std::optional<Result<Outcome>>> outcomes(names.size());
  std::atomic<std::size_t> done = 0;
  each_index(names.size(), [&](std::size_t i) {
    outcomes[i] = copy(who, pair.from, pair.to, names[i], request.overwrite);
    progress.update("assets", ++done, names.size());
  });
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto& outcome = *outcomes[i];
    if (!outcome)
      report.failed.push_back({names[i], outcome.error().message});
    else
      (*outcome == Outcome::copied ? report.copied : report.skipped).push_back(names[i]);
  }
  std::ranges::sort(report.skipped);
  TRY(record(who, report, request.overwrite));
  return report;
}

Result<void> Migration::record(const Principal& who, const MigrateReport& report, bool overwrite) {
  return seams_.sql.write([&](db::Transaction& tx) -> Result<void> {
    OrderedJson details{{"source", report.source},          {"target", report.target},
                        {"overwrite", overwrite},           {"copied", report.copied.size()},
                        {"skipped", report.skipped.size()}, {"failed", report.failed.size()}};
    TRY(seams_.audit.append(tx, audit::by(who, "storage.migrate", std::nullopt, std::move(details))));
    return {};
  });
}

Result<Moved> Migration::move(const Principal& who, const std::string& name, std::string_view from,
                              std::string_view to, bool overwrite) {
  TRY(require_admin(who));
  auto pair = TRY(open_two_backends(seams_.stores, who, from, to));
  if (TRY(copy(who, pair.from, pair.to, name, overwrite)) == Outcome::taken)
    return fail(Code::conflict, "'{}' is on '{}' already; send overwrite: true to replace it", name,
                pair.to.shown_id());
  if (auto removed = seams_.assets.remove(who, name, pair.from.id()); !removed)
    return fail(removed.error().code, "'{}' is on '{}' now, and is still on '{}': {}", name,
                pair.to.shown_id(), pair.from.shown_id(), removed.error().message);
  TRY(seams_.sql.write([&](db::Transaction& tx) -> Result<void> {
    OrderedJson details{{"from", pair.from.id()}, {"to", pair.to.id()}};
    TRY(seams_.audit.append(tx, audit::by(who, "storage.move", name, std::move(details))));
    return {};
  }));
  return Moved{name, pair.from.shown_id(), pair.to.shown_id()};
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

OrderedJson to_json(const Moved& moved) {
  return {{"ok", true}, {"moved", moved.name}, {"from", moved.from}, {"to", moved.to}};
}

}  // namespace dash::storage
