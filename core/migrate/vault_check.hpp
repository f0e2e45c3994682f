// Vault references travel as references. One that names a vault which the target does not know would be read
// there as a part of the secret's name, without an error: so it is warned about before anything is written.
#pragma once
#include "core/migrate/target.hpp"

namespace dash::migrate {

Result<void> check_vaults(const config::Values& selected, Target& target, std::vector<std::string>& warnings);

}  // namespace dash::migrate
