#include "core/storage/assets/migration.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>

#include "core/base/text.hpp"
#include "core/storage/assets/comparison.hpp"
#include "core/storage/assets/records.hpp"
#include "core/storage/store/copy.hpp"

namespace dash::storage {
namespace {

constexpr std::size_t kMaxParallelCopies = 4;  // each borrows one buffer

// Calls `work` with each index below `count`, several at a time.
void for_each_index(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  auto worker = [&] {
    for (auto i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < std::min(kMaxParallelCopies, count); ++i) threads.emplace_back(worker);
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

// An item counts as done only while both sides are what the journal says. A copy whose end the journal does
// not have is the job's own when the target holds the source's bytes.
Result<Migration::EarlierCopy> Migration::look_back(const CopyTask& task, const FindResult& found) {
  const auto* entry = task.journal ? task.journal->find(found.asset.name) : nullptr;
  if (!entry) return EarlierCopy::none;
  const auto& [from, to] = task.pair;
  auto target = to.store->head(to.key_of(found.asset.name));
  if (!target && target.error().code == Code::not_found) return EarlierCopy::none;
  if (!target) return Failure(std::move(target).error());
  if (!entry->target_etag.empty()) {
    if (entry->target_etag != target->etag) return EarlierCopy::none;
    return entry->source_etag == found.object.etag ? EarlierCopy::done : EarlierCopy::outdated;
  }
  if (task.overwrite || target->size != found.object.size) return EarlierCopy::none;
  CompareDeps compare{deps_.stores, deps_.assets, deps_.buffers};
  auto source = TRY(content_digest(compare, task.principal, from.id(), found.asset.name));
  auto copy = TRY(content_digest(compare, task.principal, to.id(), found.asset.name));
  return source == copy ? EarlierCopy::outdated : EarlierCopy::none;
}

Result<Migration::CopyOutcome> Migration::copy(const CopyTask& task, const std::string& name) {
  const auto& [from, to] = task.pair;
  TRY(to.store->check_target(to.key_of(name)));
  auto found = TRY(deps_.assets.find(task.principal, from.id(), name));
  auto earlier = TRY(look_back(task, found));
  if (earlier == EarlierCopy::done) return CopyOutcome::copied;
  auto again = task;
  if (earlier == EarlierCopy::outdated) again.overwrite = true;
  return copy_found(again, found);
}

// Narrows the scope before the bytes are copied and widens it after, so that no user can read more than the
// scope allows.
Result<Migration::CopyOutcome> Migration::copy_found(const CopyTask& task, const FindResult& found) {
  const auto& to = task.pair.to;
  const auto& name = found.asset.name;
  const auto& scope = found.asset.workgroup;
  auto key = to.key_of(name);
  auto before = TRY(deps_.scopes.get(to.id(), name));
  auto is_first = !before.has_value();
  TRY(deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    if (is_first) TRY(AssetScopes::put(tx, to.id(), name, scope));
    if (task.journal) TRY(task.journal->put(tx, name, {found.object.etag, ""}));
    return {};
  }));
  auto copied = copy_object({*found.store, found.object, found.asset.digest}, *to.store, key,
                            {.only_if_absent = !task.overwrite, .watch = task.watch}, deps_.buffers);
  if (!copied) {
    TRY(deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
      if (is_first && scope) TRY(AssetScopes::put(tx, to.id(), name, before));
      if (task.journal) TRY(task.journal->remove(tx, name));
      return {};
    }));
    // A store also reports a conflict where another spelling of the name is taken.
    if (copied.error().code == Code::conflict && !task.overwrite && to.store->head(key))
      return CopyOutcome::taken;
    return Failure(std::move(copied).error());
  }
  TRY(deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(AssetScopes::put(tx, to.id(), name, scope));
    if (task.journal) TRY(task.journal->put(tx, name, {found.object.etag, copied->object.etag}));
    return record_digest(tx, to.store->place(), name, copied->object.etag, copied->digest);
  }));
  return CopyOutcome::copied;
}

Result<Migration::Selection> Migration::select(const Principal& principal, const MigrateRequest& request,
                                               const BackendPair& pair, const MigrationJournal* journal) {
  Selection out;
  out.report.source = pair.from.display_id();
  out.report.target = pair.to.display_id();
  out.report.is_dry_run = request.is_dry_run;
  auto restart = [&] {
    out.report.skipped.clear();
    out.assets.clear();
  };
  TRY(visit_both(deps_.assets, principal, pair, restart,
                 [&](const Asset* source, const Asset* target) -> Result<void> {
                   if (!source) return {};
                   bool was_begun = journal && journal->find(source->name);
                   if (request.overwrite || was_begun || !target)
                     out.assets.push_back({source->name, source->size});
                   else
                     out.report.skipped.push_back(source->name);
                   return {};
                 }));
  return out;
}

Result<MigrateReport> Migration::plan(const Principal& principal, const MigrateRequest& request) {
  TRY(require_admin(principal));
  auto pair = TRY(open_two_backends(deps_.stores, principal, request.source, request.target));
  auto [report, assets] = TRY(select(principal, request, pair, nullptr));
  for (auto& asset : assets) {
    auto checked = pair.to.store->check_target(pair.to.key_of(asset.name));
    if (checked)
      report.copied.push_back(std::move(asset.name));
    else
      report.failed.push_back({std::move(asset.name), checked.error().message});
  }
  return std::move(report);
}

Result<MigrateReport> Migration::run(const Principal& principal, const MigrateRequest& request,
                                     const std::string& job_id, jobs::RunControl& control) {
  TRY(require_admin(principal));
  auto pair = TRY(open_two_backends(deps_.stores, principal, request.source, request.target));
  auto journal = TRY(MigrationJournal::open(deps_.sql, job_id));
  auto selection = TRY(select(principal, request, pair, &journal));
  auto& report = selection.report;
  report.job_id = job_id;
  MigrationMeter meter(deps_.clock, request.bytes_per_second, control);
  copy_all({principal, pair, request.overwrite, &journal}, selection, meter);
  TRY(record(principal, report, request.overwrite, journal));
  return std::move(report);
}

void Migration::copy_all(const CopyTask& task, Selection& selection, MigrationMeter& meter) {
  auto& [report, assets] = selection;
  auto add = [](std::uint64_t bytes, const Selected& asset) { return bytes + asset.size; };
  meter.begin(assets.size(), std::accumulate(assets.begin(), assets.end(), std::uint64_t{0}, add));
  enum class Outcome : std::uint8_t { stopped, copied, taken, failed };
  std::vector<Outcome> outcomes(assets.size(), Outcome::stopped);
  std::mutex mutex;
  std::map<std::size_t, std::string> errors;  // guarded by mutex
  for_each_index(assets.size(), [&](std::size_t i) {
    if (meter.should_stop()) return;
    MigrationMeter::Item item(meter, assets[i].size);
    auto watched = task;
    watched.watch = &item;
    auto copied = copy(watched, assets[i].name);
    if (!copied && copied.error().code == Code::interrupted) return;
    outcomes[i] = !copied                         ? Outcome::failed
                  : *copied == CopyOutcome::taken ? Outcome::taken
                                                  : Outcome::copied;
    std::lock_guard lock(mutex);
    if (!copied) errors[i] = std::move(copied).error().message;
  });
  for (std::size_t i = 0; i < assets.size(); ++i) {
    auto& name = assets[i].name;
    if (outcomes[i] == Outcome::stopped) report.is_stopped = true;
    if (outcomes[i] == Outcome::copied) report.copied.push_back(std::move(name));
    if (outcomes[i] == Outcome::taken) report.skipped.push_back(std::move(name));
    if (outcomes[i] == Outcome::failed) report.failed.push_back({std::move(name), std::move(errors[i])});
  }
  std::ranges::sort(report.skipped);
}

// The journal of a run that was stopped is kept, since the job may run again.
Result<void> Migration::record(const Principal& principal, const MigrateReport& report, bool overwrite,
                               const MigrationJournal& journal) {
  return deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    OrderedJson details{{"source", report.source},          {"target", report.target},
                        {"overwrite", overwrite},           {"copied", report.copied.size()},
                        {"skipped", report.skipped.size()}, {"failed", report.failed.size()},
                        {"job_id", report.job_id}};
    if (report.is_stopped) details["stopped"] = true;
    if (!report.is_stopped) TRY(journal.clear(tx));
    TRY(deps_.audit.append(
        tx, audit::make_event(principal, "storage.migrate", std::nullopt, std::move(details))));
    return {};
  });
}

Result<MoveResult> Migration::move(const Principal& principal, const std::string& name, std::string_view from,
                                   std::string_view to, bool overwrite) {
  TRY(require_admin(principal));
  auto pair = TRY(open_two_backends(deps_.stores, principal, from, to));
  if (TRY(copy({principal, pair, overwrite}, name)) == CopyOutcome::taken)
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
  json["job_id"] = report.job_id.empty() ? OrderedJson(nullptr) : OrderedJson(report.job_id);
  return json;
}

OrderedJson to_json(const MoveResult& moved) {
  return {{"ok", true}, {"moved", moved.name}, {"from", moved.from}, {"to", moved.to}};
}

}  // namespace dash::storage
