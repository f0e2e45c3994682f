// What undoing a change brought back, counted as an import counts what it writes: flat keys, and apart from
// them the regions by name. Pure.
#pragma once
#include <string>
#include <vector>

#include "core/config/store.hpp"

namespace dash::setup {

struct RollbackReport {
  std::vector<std::string> restored;          // flat keys, sorted
  std::vector<std::string> regions_restored;  // sorted, once each
};
// Only what differs from `before` counts.
RollbackReport report_of(const config::Changes& undo, const config::Values& before);

}  // namespace dash::setup
