#include "core/storage/assets/sweep.hpp"

#include <set>

#include "core/base/log.hpp"
#include "core/storage/assets/usage.hpp"

namespace dash::storage {
namespace {

constexpr std::chrono::hours kMaxSweepAge{24 * 365 * 10};

Result<void> check_age(std::chrono::hours age) {
  if (age >= kMinSweepAge && age <= kMaxSweepAge) return {};
  return fail(Code::invalid,
              "older_than_hours must be from {} (an upload may be continued that long) to {}, not {}",
              kMinSweepAge.count(), kMaxSweepAge.count(), age.count());
}

std::vector<std::string> swept_prefixes(const OpenBackend& at) {
  std::vector<std::string> prefixes{at.prefix};
  if (at.descriptor->is_object_store) prefixes.emplace_back(kImagePrefix);
  prefixes.emplace_back(kStagingPrefix);
  return prefixes;
}

Result<std::vector<Leftover>> find_leftovers(const OpenBackend& at, Time older_than) {
  std::vector<Leftover> found;
  std::set<std::pair<std::string, std::string>> seen;
  for (const auto& prefix : swept_prefixes(at))
    for (auto& leftover : TRY(at.store->leftovers(prefix, older_than)))
      if (seen.emplace(leftover.key, leftover.upload).second) found.push_back(std::move(leftover));
  return found;
}

// What ended or was continued since it was listed is none of ours.
bool is_no_longer_left(Code code) {
  return code == Code::not_found || code == Code::conflict || code == Code::precondition;
}

// Adds what was dropped to `dropped`, also before an error.
Result<void> drop_all(const OpenBackend& at, std::vector<Leftover> found, std::vector<Leftover>& dropped) {
  for (auto& leftover : found) {
    auto gone = at.store->drop(leftover);
    if (gone)
      dropped.push_back(std::move(leftover));
    else if (!is_no_longer_left(gone.error().code))
      return gone;
  }
  return {};
}

Result<void> record_sweep(const SweepDeps& deps, const Principal& principal, const SweepRequest& request,
                          const OpenBackend& at, const std::vector<Leftover>& dropped) {
  std::uint64_t bytes = 0;
  for (const auto& leftover : dropped) bytes += leftover.bytes;
  return deps.sql.write([&](db::Transaction& tx) -> Result<void> {
    OrderedJson details{
        {"older_than_hours", request.age.count()}, {"swept", dropped.size()}, {"bytes", bytes}};
    TRY(deps.audit.append(tx, audit::make_event(principal, "storage.gc", at.id(), std::move(details))));
    return {};
  });
}

// A store that cannot be listed has no usage; that is no reason not to sweep.
void count_usage(const SweepDeps& deps, const OpenBackend& at) {
  auto counted = record_usage(deps.sql, at, deps.clock.now());
  if (!counted)
    log::warning("storage.usage_unknown", {{"backend", at.id()}, {"error", counted.error().message}});
}

Result<void> sweep_one(const SweepDeps& deps, const Principal& principal, const SweepRequest& request,
                       std::string_view backend, SweepResult& out) {
  auto at = TRY(deps.stores.open(principal, backend));
  auto found = TRY(find_leftovers(at, deps.clock.now() - request.age));
  if (request.is_applied) {
    std::vector<Leftover> dropped;
    auto all = drop_all(at, std::move(found), dropped);
    TRY(record_sweep(deps, principal, request, at, dropped));
    found = std::move(dropped);
    out.swept += found.size();
    TRY(std::move(all));
  }
  for (auto& leftover : found) out.items.push_back({at.display_id(), std::move(leftover)});
  count_usage(deps, at);
  return {};
}

Result<SweepResult> sweep_all(const SweepDeps& deps, const Principal& principal, const SweepRequest& request,
                              SweepResult out) {
  auto settings = TRY(deps.stores.settings());
  const auto& values = settings->values();
  std::optional<Error> first;
  std::size_t asked = 0;
  for (const auto& backend : backends()) {
    if (!is_configured(backend, values)) continue;
    ++asked;
    auto swept = sweep_one(deps, principal, request, backend.id, out);
    if (swept) continue;
    out.failed.push_back({backend_in_style(name_style_of(values), backend.id), swept.error().message});
    if (!first) first = std::move(swept).error();
  }
  if (asked == 0) return fail(Code::invalid, "no backend is configured, so there is nothing to sweep");
  if (out.failed.size() == asked && out.swept == 0) return Failure(*std::move(first));
  return out;
}

}  // namespace

Result<SweepResult> sweep_stores(const SweepDeps& deps, const Principal& principal,
                                 const SweepRequest& request) {
  TRY(require_admin(principal));
  TRY(check_age(request.age));
  SweepResult out;
  out.is_applied = request.is_applied;
  if (request.backend.find_first_not_of(' ') == std::string::npos)
    return sweep_all(deps, principal, request, std::move(out));
  TRY(sweep_one(deps, principal, request, request.backend, out));
  return out;
}

OrderedJson to_json(const SweepResult& result) {
  auto items = OrderedJson::array();
  for (const auto& [backend, leftover] : result.items)
    items.push_back({{"backend", backend},
                     {"key", leftover.key},
                     {"began_at", format_iso(leftover.began)},
                     {"bytes", leftover.bytes}});
  OrderedJson out{{"ok", result.failed.empty()},
                  {"applied", result.is_applied},
                  {"items", std::move(items)},
                  {"swept", result.swept}};
  for (const auto& [backend, error] : result.failed)
    out["failed"].push_back({{"backend", backend}, {"error", error}});
  return out;
}

}  // namespace dash::storage
