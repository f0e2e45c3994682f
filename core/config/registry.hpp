// The registry of settings: type, panel, whether it is a secret. The data is core/config/keys.yaml, embedded
// and parsed once. A key that is not registered is stored like any other, and counts as a secret when its
// name ends like one. Keys are accepted in either spelling (clouds.hpp). Thread-safe.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dash::config {

struct KeyInfo {
  std::string key;        // canonical; "cloud1_region.<region>.vpc_id" and "k8s_kubeconfig_*" are patterns
  std::string alias;      // the provider's spelling where it differs
  std::string type;       // string, bool, int, float, list, json
  std::string panel;      // the settings page that edits it
  std::string group;      // panel, wizard, settings, storage, region_field, …
  std::string exclusion;  // reason word (exclusion.hpp), empty when it may leave the instance
  bool is_secret = false;
  bool is_vault_pointer = false;
  bool is_on_prem = false;
};

// Returns all rows, sorted by key.
const std::vector<KeyInfo>& registered_keys();
// Returns the row of the exact key, else of the pattern that covers it, else nullptr.
const KeyInfo* lookup(std::string_view key);

bool is_secret(std::string_view key);
// Returns whether the value names a secret that is stored elsewhere. Such a value is shown and migrated
// verbatim.
bool is_vault_pointer(std::string_view key);

// Returns whether the text starts with two bullets. Such text is a mask: never content, never written.
bool is_masked(std::string_view value);

}  // namespace dash::config
