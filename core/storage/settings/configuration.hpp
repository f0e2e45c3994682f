// Reads the storage settings (2-storage.md, GET /api/storage/config). core/setup changes them.
#pragma once
#include "core/base/principal.hpp"
#include "core/config/store.hpp"
#include "core/storage/settings/config_view.hpp"

namespace dash::storage {

class Configuration {
 public:
  explicit Configuration(config::Store& config) : config_(config) {}

  Result<OrderedJson> backends();
  // For admins.
  Result<OrderedJson> show(const Principal& who);

 private:
  config::Store& config_;
};

}  // namespace dash::storage
