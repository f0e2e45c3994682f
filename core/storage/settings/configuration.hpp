// Reads the storage settings (GET /api/storage/config). core/setup changes them.
#pragma once
#include "core/base/principal.hpp"
#include "core/config/encrypted_store.hpp"
#include "core/storage/settings/config_view.hpp"

namespace dash::storage {

class Configuration {
 public:
  explicit Configuration(config::EncryptedStore& config) : config_(config) {}

  Result<OrderedJson> backends();
  // For admins.
  Result<OrderedJson> show(const Principal& principal);

 private:
  config::EncryptedStore& config_;
};

}  // namespace dash::storage
