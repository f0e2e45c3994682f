// Checkpoints of the audit log in the active store: an object each, create-only, so that not even this
// instance's own credentials replace one where the bucket forbids it. Keys are
// dashctl-audit/<signer>/<size, 16 digits>.checkpoint at the bucket's root, outside of the asset prefix (and
// no asset by its ending where there is no prefix), so that no listing shows them.
#pragma once
#include "core/audit/anchor.hpp"
#include "core/storage/settings/stores.hpp"

namespace dash::app {

// `signer`: audit::signer_name() of the log's key. The store is the one that is active when it is asked.
std::unique_ptr<audit::Anchor> object_store_anchor(storage::Stores& stores, std::string signer);

}  // namespace dash::app
