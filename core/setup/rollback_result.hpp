// What a rollback restored, counted as an import counts what it writes: flat keys, and apart from them the
// regions by name. Pure.
#pragma once
#include <string>
#include <vector>

#include "core/config/encrypted_store.hpp"

namespace dash::setup {

struct RollbackResult {
  std::vector<std::string> restored;          // flat keys, sorted
  std::vector<std::string> regions_restored;  // sorted, once each
};
// Counts only what differs from `before`.
RollbackResult report_of(const config::Changes& undo, const config::Values& before);

}  // namespace dash::setup
