#include "core/storage/settings/stores.hpp"

#include "core/base/text.hpp"
#include "core/storage/store/redacting_store.hpp"

namespace dash::storage {
namespace {

// A malformed setting does not switch off a warning.
bool scans_secrets(const config::Values& values) {
  constexpr std::string_view kSwitch = "secret_scan_enabled";
  return config::parse_flag(kSwitch, value_of(values, kSwitch), true).value_or(true);
}

}  // namespace

Result<OpenBackend> Stores::open(const Principal& principal, std::string_view text) {
  auto at = open_any(text);
  if (principal.is_admin) return at;
  if (!at) return Failure(redact_addresses(std::move(at).error(), ""));
  at->store = with_redaction(std::move(at->store));
  return at;
}

Result<OpenBackend> Stores::open_other(const Principal& principal, const Backend& backend,
                                       const config::Values& changes) {
  TRY(require_admin(principal));
  auto values = TRY(this->settings())->values();
  for (const auto& [key, value] : changes) values.insert_or_assign(key, value);
  OpenBackend out;
  out.descriptor = &backend;
  out.store = TRY(open_(backend, values));
  out.style = name_style_of(values);
  return out;
}

Result<OpenBackend> Stores::open_any(std::string_view text) {
  auto settings = TRY(this->settings());
  const auto& values = settings->values();
  auto* active = active_backend(values);
  auto style = name_style_of(values);
  auto named = trim(text);
  if (named.empty() && !active)
    return fail(Code::upstream,
                "No active storage backend. Configure one on /storage and select it as active.");
  auto* backend = named.empty() ? active : TRY(find_backend(named, style));
  if (!is_configured(*backend, values))
    return fail(Code::invalid, "Backend '{}' is not configured.", backend_in_style(style, backend->id));
  auto store = TRY(cached_store(*backend, settings));
  if (backend == active) is_folder_active_ = store->place().starts_with("file://");
  return OpenBackend{backend, std::move(store),  asset_prefix(*backend, values),
                     style,   backend == active, scans_secrets(values)};
}

Result<std::shared_ptr<ObjectStore>> Stores::cached_store(const Backend& backend,
                                                          const config::SnapshotPtr& settings) {
  {
    std::lock_guard lock(mutex_);
    auto it = cache_.find(backend.id);
    if (it != cache_.end() && it->second.settings == settings) return it->second.store;
  }
  auto store = open_(backend, settings->values());
  // The operator must repair settings that make no store, not the caller.
  if (!store && store.error().code == Code::invalid) store.error().code = Code::upstream;
  auto opened = TRY(std::move(store));
  std::lock_guard lock(mutex_);
  cache_[backend.id] = {settings, opened};
  return opened;
}

}  // namespace dash::storage
