// The storage page's settings: what GET /api/storage/config shows and what PATCH may change (2-storage.md,
// Configuration). Pure over the values of the config store: a refused change changes nothing.
#pragma once
#include <string>
#include <vector>

#include "core/base/json.hpp"
#include "core/config/store.hpp"

namespace dash::storage {

// Flat object of every storage_* and promote_runner_* setting as text, "" when unset; secrets are the mask.
OrderedJson show_config(const config::Values& values);

struct ConfigPatch {
  config::Changes changes;  // canonical keys; "" removes
  std::vector<std::string>
      updated;  // the keys that were sent and are known, in the order of show_config(), as spelled there
  bool migrate_iac_state = false;
};

// `body` is an object of either spelling. Unknown members and nulls are passed over, a masked secret means
// keep. Code::validation for a value that is no text, Code::invalid for a choice that the spec refuses: an
// active or hub backend that is unknown or not configured (after this patch), `local` while the automation
// runner is not local, a file system as hub.
Result<ConfigPatch> read_config_patch(const Json& body, const config::Values& values);

}  // namespace dash::storage
