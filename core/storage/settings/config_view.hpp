// The storage page's settings: what GET /api/storage/config shows and what PATCH may change. Pure over the
// values of the config store.
#pragma once
#include <string>
#include <vector>

#include "core/base/json.hpp"
#include "core/config/encrypted_store.hpp"

namespace dash::storage {

// Returns every storage_* and promote_runner_* setting as text in a flat object; "" when unset, secrets
// masked.
OrderedJson show_config(const config::Values& values);

struct ConfigPatch {
  config::Changes changes;  // canonical keys; "" removes
  // The known keys that were sent, in the order of show_config(), spelled as there.
  std::vector<std::string> updated;
};

// What the body confirms about infrastructure state. Code::validation for a member of
// another type.
struct StateFlags {
  bool migrate = false;  // migrate_iac_state, or a Python dashboard's migrate_terraform_state
  bool abandon = false;  // abandon_iac_state
  std::vector<std::string> overwrite = {};  // overwrite_iac_state
};
Result<StateFlags> read_state_flags(const Json& body);

// Reads `body`, an object of either spelling. Unknown members and nulls are ignored; a masked value keeps the
// stored one. Code::validation for a value that is no text. core/setup checks what the values mean.
Result<ConfigPatch> read_config_patch(const Json& body, const config::Values& values);

}  // namespace dash::storage
