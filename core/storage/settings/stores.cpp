#include "core/storage/settings/stores.hpp"

#include "core/base/text.hpp"
#include "core/config/settings.hpp"
#include "core/storage/store/concealed.hpp"

namespace dash::storage {
namespace {

// Nonsense does not switch off a warning.
bool scans_secrets(const config::Values& values) {
  constexpr std::string_view kSwitch = "secret_scan_enabled";
  return config::parse_flag(kSwitch, value_of(values, kSwitch), true).value_or(true);
}

}  // namespace

Result<Opened> Stores::open(const Principal& who, std::string_view text) {
  auto at = open_any(text);
  if (who.is_admin) return at;
  if (!at) return Failure(without_addresses(std::move(at).error(), ""));
  at->store = concealed(std::move(at->store));
  return at;
}

Result<Opened> Stores::open_any(std::string_view text) {
  auto values = TRY(config_.all());
  auto* active = active_backend(values);
  auto spelling = spelling_of(values);
  auto named = trim(text);
  if (named.empty() && !active)
    return fail(Code::upstream,
                "No active storage backend. Configure one on /storage and select it as active.");
  auto* backend = named.empty() ? active : TRY(find_backend(named, spelling));
  if (!is_configured(*backend, values))
    return fail(Code::invalid, "Backend '{}' is not configured.", spelled_backend(spelling, backend->id));
  auto store = TRY(kept(*backend, values));
  return Opened{backend,  std::move(store),  asset_prefix(*backend, values),
                spelling, backend == active, scans_secrets(values)};
}

Result<std::shared_ptr<ObjectStore>> Stores::kept(const Backend& backend, const config::Values& values) {
  {
    std::lock_guard lock(mutex_);
    auto it = kept_.find(backend.id);
    if (it != kept_.end() && it->second.values == values) return it->second.store;
  }
  auto store = open_(backend, values);
  // Settings that make no store are the operator's to mend, not the caller's.
  if (!store && store.error().code == Code::invalid) store.error().code = Code::upstream;
  auto opened = TRY(std::move(store));
  std::lock_guard lock(mutex_);
  kept_[backend.id] = {values, opened};
  return opened;
}

}  // namespace dash::storage
