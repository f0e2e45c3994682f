#include "core/storage/assets/sweep.hpp"

namespace dash::storage {
namespace {

constexpr std::chrono::hours kMaxSweepAge{24 * 365 * 10};

}  // namespace

Result<SweepResult> sweep_backend(const SweepDeps& deps, const Principal& principal, std::string_view backend,
                                  std::chrono::hours age) {
  TRY(require_admin(principal));
  if (age < std::chrono::hours(0) || age > kMaxSweepAge)
    return fail(Code::invalid, "the age must be from 0 to {} hours, not {}", kMaxSweepAge.count(),
                age.count());
  auto at = TRY(deps.stores.open(principal, backend));
  auto uploads = TRY(at.store->sweep(at.prefix, deps.clock.now() - age));
  SweepResult result{at.display_id(), uploads};
  TRY(deps.sql.write([&](db::Transaction& tx) -> Result<void> {
    OrderedJson details{{"older_than_hours", age.count()}, {"swept", result.uploads}};
    TRY(deps.audit.append(tx, audit::make_event(principal, "storage.gc", at.id(), std::move(details))));
    return {};
  }));
  return result;
}

OrderedJson to_json(const SweepResult& result) {
  return {{"ok", true}, {"backend", result.backend}, {"swept", result.uploads}};
}

}  // namespace dash::storage
