// The image hub: the one object store that keeps disk images, under `images/` at the root of its bucket. It
// is the backend of the setting storage_hub_backend, else the active one where that is an object store.
#pragma once
#include <string>
#include <string_view>

#include "core/storage/settings/stores.hpp"

namespace dash::images {

// Opens the hub, for admins: its prefix is storage::kImagePrefix. Code::invalid when there is none.
Result<storage::OpenBackend> open_hub(storage::Stores& stores, const Principal& principal);
// Images lie directly under the prefix; what another program placed in folders there is none.
bool is_image_key(std::string_view name);
// Returns the image's object. Code::not_found when the hub has none of that name.
Result<storage::Object> find_image(const storage::OpenBackend& hub, const std::string& name);
Failure image_not_found(std::string_view name);
// Returns the name of an image's digest among the records of its place. No asset is called so: no name of one
// begins with a slash.
std::string digest_record_name(std::string_view image);

}  // namespace dash::images
