// The keys that never leave an instance by a migration, and why. The client checks them when it exports and
// imports, and the target's server checks them again, so that a hand-edited bundle cannot bring one back.
// Pure.
#pragma once
#include <optional>
#include <string_view>

namespace dash::config {

enum class Exclusion {
  instance_local,  // this instance's identity, listener or database
  runtime_handle,  // a handle on a live resource that the application itself wrote
  local_path,      // a path on this host
  on_prem,         // a target on the operator's own premises; released by --include-on-prem
};

// Returns the word in a bundle's `excluded` section.
std::string_view word(Exclusion reason);

// Returns why a key is excluded, or nullopt. `key` may have either spelling, any case and surrounding white
// space; a blank key is instance_local. The value decides only for storage_local_path: a share
// (\\server\share) is on_prem, a folder of this host is local_path.
std::optional<Exclusion> exclusion_reason(std::string_view key, std::string_view value = "");

}  // namespace dash::config
