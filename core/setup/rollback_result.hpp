// What a rollback restored, counted as an import counts what it writes: flat keys, and apart from them the
// regions by name. Pure.
#pragma once
#include <string>
#include <vector>

#include "core/config/encrypted_store.hpp"
#include "core/storage/settings/iac_state.hpp"

namespace dash::setup {

struct RollbackResult {
  std::vector<std::string> restored;          // flat keys, sorted
  std::vector<std::string> regions_restored;  // sorted, once each
  std::int64_t iac_state_migrated = 0;
  std::vector<storage::LeftState> iac_state_left{};  // the originals of the copies
};
OrderedJson to_json(const RollbackResult& result);  // of POST /api/setup/rollback
// Counts only what differs from `before`.
RollbackResult report_of(const config::Changes& undo, const config::Values& before);

}  // namespace dash::setup
