#include "core/storage/settings/configuration.hpp"

#include "core/storage/store/backends.hpp"

namespace dash::storage {

Result<OrderedJson> Configuration::backends() {
  return describe_backends(TRY(settings_.snapshot(config::kAllSettings))->values());
}

Result<OrderedJson> Configuration::show(const Principal& principal) {
  TRY(require_admin(principal));
  return show_config(TRY(settings_.snapshot(config::kAllSettings))->values());
}

}  // namespace dash::storage
