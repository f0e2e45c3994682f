// What a change on the storage page did (PATCH /api/storage/config).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.hpp"
#include "core/config/clouds.hpp"
#include "core/storage/settings/iac_state.hpp"

namespace dash::setup {

struct StorageUpdateResult {
  std::vector<std::string> updated;  // keys, as this instance spells them
  std::int64_t iac_state_migrated = 0;
  std::vector<storage::LeftState> iac_state_left = {};
  config::NameStyle style = config::NameStyle::canonical;
};
OrderedJson to_json(const StorageUpdateResult& update);

}  // namespace dash::setup
