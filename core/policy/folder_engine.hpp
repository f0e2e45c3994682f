// A separate engine over a folder of rules, beside the one of the gate: for commands, and for comparisons.
#pragma once
#include <string>

#include "core/policy/engine.hpp"

namespace dash::policy {

// Returns its options, from the environment.
Result<EngineOptions> folder_engine_options(const std::string& folder);

}  // namespace dash::policy
