#include "core/images/hub.hpp"

#include "core/storage/store/key.hpp"

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

bool is_image_key(std::string_view name) {
  return storage::check_key(name).has_value() && name.find('/') == name.npos;
}

Failure image_not_found(std::string_view name) {
  return fail(Code::not_found, "the hub has no image '{}'", name);
}

Result<storage::Object> find_image(const storage::OpenBackend& hub, const std::string& name) {
  if (!is_image_key(name)) return image_not_found(name);
  auto object = hub.store->head(hub.key_of(name));
  if (!object && object.error().code == Code::not_found) return image_not_found(name);
  return object;
}

std::string digest_record_name(std::string_view image) {
  return fmt::format("/{}{}", storage::kImagePrefix, image);
}

}  // namespace dash::images
