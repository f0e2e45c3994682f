#include "core/storage/assets/sweep.hpp"

namespace dash::storage {
namespace {

constexpr std::chrono::hours kLongestAge{24 * 365 * 10};

}  // namespace

Result<Swept> sweep_backend(const SweepSeams& seams, const Principal& who, std::string_view backend,
                            std::chrono::hours age) {
  TRY(require_admin(who));
  if (age < std::chrono::hours(0) || age > kLongestAge)
    return fail(Code::invalid, "the age must be from 0 to {} hours, not {}", kLongestAge.count(),
                age.count());
  auto at = TRY(seams.stores.open(who, backend));
  auto uploads = TRY(at.store->sweep(at.prefix, seams.clock.now() - age));
  Swept swept{at.shown_id(), uploads};
  TRY(seams.sql.write([&](db::Transaction& tx) -> Result<void> {
    OrderedJson details{{"older_than_hours", age.count()}, {"swept", swept.uploads}};
    TRY(seams.audit.append(tx, audit::by(who, "storage.gc", at.id(), std::move(details))));
    return {};
  }));
  return swept;
}

OrderedJson to_json(const Swept& swept) {
  return {{"ok", true}, {"backend", swept.backend}, {"swept", swept.uploads}};
}

}  // namespace dash::storage
