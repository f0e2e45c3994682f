// The six backends as the settings describe them: which are configured, which is active, which is the hub,
// and their limits. Pure over the values of the config store; no store is called. Ids are canonical inside
// (config/clouds.hpp).
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/json.hpp"
#include "core/config/clouds.hpp"
#include "core/config/encrypted_store.hpp"

namespace dash::storage {

// The signed job envelope of a remote agent is capped at 256 KiB, base64's overhead included.
inline constexpr std::uint64_t kMaxAgentBytes = (256u << 10) / 4 * 3;

struct Backend {
  std::string_view id;
  std::string_view label;
  std::array<std::string_view, 2> required;  // settings that configure it; "" for none
  bool is_object_store;
  std::uint64_t max_inline_bytes;  // decoded bytes
  std::string_view limit_reason;
  bool is_chunked() const { return is_object_store; }
  std::uint64_t ceiling() const;
};

// Returns them in the fixed order of the API. When none is chosen, the first configured one is the active
// one.
std::span<const Backend> backends();
// Returns the folder where deployments write their state while a file system is active (storage_local_path).
// It is the program's own, so the rules about the local store's root do not apply to it, and no setting names
// it.
const Backend& deploy_folder_backend();
// Finds `text` in either spelling. Code::invalid names the valid ids.
Result<const Backend*> find_backend(std::string_view text,
                                    config::NameStyle style = config::NameStyle::canonical);

// Returns how this instance writes names on output: the setting cloud_names.
config::NameStyle name_style_of(const config::Values& values);
std::string backend_in_style(config::NameStyle style, std::string_view id);

std::string value_of(const config::Values& values, std::string_view key);
bool is_configured(const Backend& backend, const config::Values& values);
// Returns the first required setting without a value; "" when configured.
std::string_view missing_setting(const Backend& backend, const config::Values& values);
// Returns the stored choice when it is configured, else the first configured one (`local` only while the
// automation runner is local), else nullptr.
const Backend* active_backend(const config::Values& values);
// Returns the stored choice when it is configured, else the active one if it can be a hub, else nullptr.
const Backend* hub_backend(const config::Values& values);
std::string automation_runner(const config::Values& values);

// Where the hub keeps images, from the root of its bucket.
inline constexpr std::string_view kImagePrefix = "images/";
// Returns the prefix of asset keys: "config-mgmt/" unless the backend's prefix is set; "" on file systems.
std::string asset_prefix(const Backend& backend, const config::Values& values);
// Returns whether a key, or a prefix, begins with a segment under which the dashboard stores its own objects.
bool is_reserved(std::string_view key);
// Checks a value of the setting `key`, storage_<backend>_prefix. Code::invalid when its first segment is one
// under which the dashboard stores its own objects.
Result<void> check_asset_prefix(std::string_view key, std::string_view prefix);

// Returns why infrastructure state does not outlive this machine while the backend is active; "" when it does.
std::string_view durable_state_reason(const Backend* active);

// Returns the body of GET /api/storage/backends, without what only admins see.
OrderedJson describe_backends(const config::Values& values);

}  // namespace dash::storage
