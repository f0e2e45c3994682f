// What an audit entry contains about a change of settings: the keys, their old values and their new ones.
#pragma once
#include "core/base/json.hpp"
#include "core/config/encrypted_store.hpp"

namespace dash::setup {

// {key: {"old": s|null, "new": s|null}}: null for an absent value, the mask for a secret, "sha256:<hex>" for
// a long one. A change of many keys lists only those by which the gate decides.
OrderedJson changes_to_json(const config::Values& before, const config::Changes& changes);

}  // namespace dash::setup
