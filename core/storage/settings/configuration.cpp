#include "core/storage/settings/configuration.hpp"

#include "core/storage/store/backends.hpp"

namespace dash::storage {

Result<OrderedJson> Configuration::backends() { return describe_backends(TRY(config_.all())); }

Result<OrderedJson> Configuration::show(const Principal& principal) {
  TRY(require_admin(principal));
  return show_config(TRY(config_.all()));
}

}  // namespace dash::storage
