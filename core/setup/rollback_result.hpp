// What undoing a change brought back, counted as an import counts what it writes: flat keys, and apart from
// them the regions by name. Pure.
#pragma once
#include <string>
#include <vector>

#include "core/config/encrypted_store.hpp"

namespace dash::setup {

struct RollbackResult {
  std::vector<std::string> restored;          // flat keys, sorted
  std::vector<std::string> regions_restored;  // sorted, once each
};
// Only what differs from `before` counts.
RollbackResult report_of(const config::Changes& undo, const config::Values& before);

}  // namespace dash::setup
