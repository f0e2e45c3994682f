// The stores of this instance by its current settings. Settings are read live. An open store is reused until
// they change, so that its connections and tokens serve many calls. Thread-safe.
#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/base/principal.hpp"
#include "core/config/settings.hpp"
#include "core/storage/store/backends.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage {

using OpenStore = std::function<Result<std::shared_ptr<ObjectStore>>(const Backend&, const config::Values&)>;

// A backend that is open.
struct OpenBackend {
  const Backend* descriptor = nullptr;
  std::shared_ptr<ObjectStore> store;
  std::string prefix;  // of asset keys
  config::NameStyle style = config::NameStyle::canonical;
  bool is_active = false;
  bool scans_secrets = true;  // the setting secret_scan_enabled

  std::string id() const { return std::string(descriptor->id); }
  std::string display_id() const { return backend_in_style(style, descriptor->id); }
  std::string key_of(std::string_view name) const { return prefix + std::string(name); }
};

class Stores {
 public:
  Stores(config::Settings& settings, OpenStore open) : settings_(settings), open_(std::move(open)) {}

  // Opens the store of an id in either spelling; blank: the active backend. Code::invalid for an unknown or
  // unconfigured one, Code::upstream when there is no active one. For a principal who is no admin, errors
  // reveal no address of a store, neither here nor from the returned store.
  Result<OpenBackend> open(const Principal& principal, std::string_view text);
  // Opens another bucket of the backend's kind: the backend as if `changes` were settings too. For admins.
  // Not cached.
  Result<OpenBackend> open_other(const Principal& principal, const Backend& backend,
                                 const config::Values& changes);
  // Returns whether the active backend was a folder of this machine when it was last opened. Waits for nothing.
  bool is_folder_active() const { return is_folder_active_; }
  // Returns the settings by which open() works now.
  Result<config::SnapshotPtr> settings() { return settings_.snapshot(config::kAllSettings); }

 private:
  struct CachedStore {
    config::SnapshotPtr settings;
    std::shared_ptr<ObjectStore> store;
  };
  Result<OpenBackend> open_any(std::string_view text);
  Result<std::shared_ptr<ObjectStore>> cached_store(const Backend& backend,
                                                    const config::SnapshotPtr& settings);
  config::Settings& settings_;
  OpenStore open_;
  std::mutex mutex_;
  std::map<std::string_view, CachedStore> cache_;
  std::atomic<bool> is_folder_active_ = false;
};

}  // namespace dash::storage
