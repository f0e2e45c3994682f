// Decides what of a setting may be shown, and reads masks that come back. Only this file recognises a secret,
// by its key (registry.hpp) and by its value (userinfo), also inside of region sets. Pure.
#pragma once
#include <string>
#include <string_view>

#include "core/config/regions.hpp"

namespace dash::config {

// Replaces a secret's value wherever settings are shown: eight U+2022 BULLET.
inline constexpr std::string_view kMask = "••••••••";

// Returns true when the key holds a secret or the value looks like one. A reference into a vault is none.
bool is_secret_value(std::string_view key, std::string_view value);
// Returns the value for GET, panels and exports: the mask for a secret; a region set with its secret fields
// masked.
std::string masked_value(std::string_view key, std::string_view value);
// Returns the value for the audit log: as masked_value(), but of a value with userinfo only the userinfo is
// hidden.
std::string audited_value(std::string_view key, std::string_view value);

bool has_masked_field(const RegionMap& map);
// Replaces each masked field by the stored value, or drops it where none is stored.
RegionMap restore_masked_fields(RegionMap sent, const RegionMap& stored);
// The same for a set as text. Text that is no region set, or has no mask, is returned as it is.
std::string restore_masked_fields(std::string_view cloud, std::string_view sent, std::string_view stored);

}  // namespace dash::config
