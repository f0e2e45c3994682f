// The stores of this instance as its settings are now. Settings are read live; an opened store is kept until
// they change, so that its connections and tokens serve many calls. Thread-safe.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/base/principal.hpp"
#include "core/config/store.hpp"
#include "core/storage/store/backends.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage {

using OpenStore = std::function<Result<std::shared_ptr<ObjectStore>>(const Backend&, const config::Values&)>;

// A backend that is ready to be asked.
struct Opened {
  const Backend* backend = nullptr;
  std::shared_ptr<ObjectStore> store;
  std::string prefix;  // of asset keys
  config::Spelling spelling = config::Spelling::canonical;
  bool is_active = false;
  bool scans_secrets = true;  // the setting secret_scan_enabled

  std::string id() const { return std::string(backend->id); }
  std::string shown_id() const { return spelled_backend(spelling, backend->id); }
  std::string key_of(std::string_view name) const { return prefix + std::string(name); }
};

class Stores {
 public:
  Stores(config::Store& config, OpenStore open) : config_(config), open_(std::move(open)) {}

  // `text`: an id in either spelling; blank: the active backend. Code::invalid for an unknown or unconfigured
  // one, Code::upstream when there is no active one. Who is no admin reads no address of a store in an error,
  // neither here nor of the store that comes back.
  Result<Opened> open(const Principal& who, std::string_view text);
  Result<config::Values> values() { return config_.all(); }

 private:
  struct Kept {
    config::Values values;
    std::shared_ptr<ObjectStore> store;
  };
  Result<Opened> open_any(std::string_view text);
  Result<std::shared_ptr<ObjectStore>> kept(const Backend& backend, const config::Values& values);
  config::Store& config_;
  OpenStore open_;
  std::mutex mutex_;
  std::map<std::string_view, Kept> kept_;
};

}  // namespace dash::storage
