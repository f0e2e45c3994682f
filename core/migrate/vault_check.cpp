#include "core/migrate/vault_check.hpp"

#include "core/config/vault_reference.hpp"

namespace dash::migrate {

Result<void> check_vaults(const config::Values& selected, Target& target,
                          std::vector<std::string>& warnings) {
  std::map<std::string, std::vector<std::string>> named;  // "aws_sm://prod" → the keys that use it
  for (const auto& [key, value] : selected)
    if (auto id = config::vault_id_of(value); !id.empty())
      named[config::vault_scheme(value) + "://" + id].push_back(key);
  if (named.empty()) return {};
  auto known = TRY(target.vaults());
  for (const auto& [vault, keys] : named) {
    auto id = vault.substr(vault.find("://") + 3);
    if (!known) {
      warnings.push_back(
          fmt::format("{} may name the vault '{}', and the target cannot tell whether it is registered "
                      "there; if it is a vault, register it "
                      "on the target's secrets page first (used by {})",
                      vault, id, fmt::join(keys, ", ")));
    } else if (!known->contains(vault)) {
      warnings.push_back(
          fmt::format("the vault '{}' of {} is not registered on the target: the reference would be read as "
                      "a part of the secret's name. "
                      "Register it on the target's secrets page first (used by {})",
                      id, vault, fmt::join(keys, ", ")));
    }
  }
  return {};
}

}  // namespace dash::migrate
