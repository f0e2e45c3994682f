#include "core/storage/configuration.hpp"

#include "core/storage/backends.hpp"

namespace dash::storage {

Result<OrderedJson> Configuration::backends() { return describe_backends(TRY(config_.all())); }

Result<OrderedJson> Configuration::show(const identity::Principal& who) {
  TRY(identity::require_admin(who));
  return show_config(TRY(config_.all()));
}

}  // namespace dash::storage
