// Reads the storage settings (GET /api/storage/config). core/setup changes them.
#pragma once
#include "core/base/principal.hpp"
#include "core/config/settings.hpp"
#include "core/storage/settings/config_view.hpp"

namespace dash::storage {

class Configuration {
 public:
  explicit Configuration(config::Settings& settings) : settings_(settings) {}

  Result<OrderedJson> backends();
  // For admins.
  Result<OrderedJson> show(const Principal& principal);

 private:
  config::Settings& settings_;
};

}  // namespace dash::storage
