// The rules about storage settings: the active backend and the hub are configured, the hub is an object
// store, `local` and the automation runner agree, automation has a storage, the local store's root is no
// folder of the host, and no asset is in a folder of the dashboard.
#pragma once
#include <string>

#include "core/config/active_backend.hpp"
#include "core/setup/rules.hpp"

namespace dash::setup {

using config::kActiveBackendKey;

std::vector<Rule> storage_rules(const storage::local::RootRules& roots);

}  // namespace dash::setup
