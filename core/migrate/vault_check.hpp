// Vault references are written as references. A target reads one that names a vault unknown to it as a part
// of the secret's name, without an error, so a warning is printed before anything is written.
#pragma once
#include "core/migrate/target.hpp"

namespace dash::migrate {

Result<void> check_vaults(const config::Values& selected, Target& target, std::vector<std::string>& warnings);

}  // namespace dash::migrate
