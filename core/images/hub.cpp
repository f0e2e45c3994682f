#include "core/images/hub.hpp"

namespace dash::images {

Result<storage::OpenBackend> open_hub(storage::Stores& stores, const Principal& principal) {
  TRY(require_admin(principal));
  auto settings = TRY(stores.settings());
  const auto* hub = storage::hub_backend(settings->values());
  if (!hub)
    return fail(Code::invalid,
                "There is no image hub: the active storage backend is no object store. Set "
                "storage_hub_backend to an object store that is configured.");
  auto backend = TRY(stores.open(principal, hub->id));
  backend.prefix = storage::kImagePrefix;
  return backend;
}

std::string digest_record_name(std::string_view image) {
  return fmt::format("/{}{}", storage::kImagePrefix, image);
}

}  // namespace dash::images
