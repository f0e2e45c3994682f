// The folder of an instance's rules.
#pragma once
#include <string>

#include "core/base/error.hpp"

namespace dash::policy {

// Returns `named`, else $ADMISSION_POLICY_DIR, else <data_dir>/policy. Only the last is made when absent, and
// filled with the built-in rules and their tests. A named one that is missing closes the gate.
Result<std::string> rule_folder(const std::string& named, const std::string& data_dir);

}  // namespace dash::policy
