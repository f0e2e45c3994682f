// What of a setting may be shown, and how a mask that comes back is read: the one place that knows a secret
// by its key (registry.hpp) and by its value (userinfo), inside of region sets too. Pure.
#pragma once
#include <string>
#include <string_view>

#include "core/config/regions.hpp"

namespace dash::config {

// The key holds a secret, or the value looks like one. A reference into a vault is none.
bool is_secret_value(std::string_view key, std::string_view value);
// For GET, panels and exports: the mask for a secret; a region set with its secret fields masked.
std::string masked_value(std::string_view key, std::string_view value);
// For the audit log: as masked_value(), but of a value with userinfo only that is hidden.
std::string audited_value(std::string_view key, std::string_view value);

bool has_masked_field(const RegionMap& map);
// Each masked field takes the value that is stored, or goes where none is.
RegionMap restore_masked_fields(RegionMap sent, const RegionMap& stored);
// The same for a set as text. Text that is no region set, or holds no mask, comes back as it is.
std::string restore_masked_fields(std::string_view cloud, std::string_view sent, std::string_view stored);

}  // namespace dash::config
