// What the audit log says about a change of settings: which keys, from what, to what.
#pragma once
#include "core/base/json.hpp"
#include "core/config/encrypted_store.hpp"

namespace dash::setup {

// {key: {"old": s|null, "new": s|null}}: null for an absent value, the mask for a secret, "sha256:<hex>" for
// a long one. Of a change of many keys only those by which the gate decides.
OrderedJson changes_to_json(const config::Values& before, const config::Changes& changes);

}  // namespace dash::setup
