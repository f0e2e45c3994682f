// The storage page's settings: what GET /api/storage/config shows and what PATCH may change.
// Pure over the values of the config store.
#pragma once
#include <string>
#include <vector>

#include "core/base/json.hpp"
#include "core/config/encrypted_store.hpp"

namespace dash::storage {

// Flat object of every storage_* and promote_runner_* setting as text, "" when unset; secrets are the mask.
OrderedJson show_config(const config::Values& values);

struct ConfigPatch {
  config::Changes changes;  // canonical keys; "" removes
  std::vector<std::string>
      updated;  // the keys that were sent and are known, in the order of show_config(), as spelled there
};

// What the body confirms about infrastructure state. Code::validation for a member that is no boolean.
struct StateFlags {
  bool migrate = false;  // migrate_iac_state, or a Python dashboard's migrate_terraform_state
  bool abandon = false;  // abandon_iac_state
};
Result<StateFlags> read_state_flags(const Json& body);

// `body` is an object of either spelling. Unknown members and nulls are passed over, a masked value means
// keep. Code::validation for a value that is no text. What the values mean is judged by core/setup.
Result<ConfigPatch> read_config_patch(const Json& body, const config::Values& values);

}  // namespace dash::storage
