// Checkpoints of the audit log in the active store: an object each, create-only, so that even this instance's
// own credentials cannot replace one where the bucket forbids it. Keys are dashctl-audit/<signer>/<size, 16
// digits>.checkpoint at the bucket's root, outside of the asset prefix. Where there is no prefix, the ending
// excludes them from assets, so that no listing shows them.
#pragma once
#include "core/audit/anchor.hpp"
#include "core/storage/settings/stores.hpp"

namespace dash::app {

// Returns the anchor; `signer` is audit::signer_name() of the log's key. Each call of it uses the store that
// is active then.
std::unique_ptr<audit::Anchor> object_store_anchor(storage::Stores& stores, std::string signer);

}  // namespace dash::app
