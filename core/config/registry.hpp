// What is known about each setting: type, panel, whether it is a secret. The data is core/config/keys.yaml,
// embedded and parsed once. A key that is not registered is carried like any other, and taken for a secret
// when its name ends like one. Keys are taken in either spelling (clouds.hpp). Thread-safe.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dash::config {

struct KeyInfo {
  std::string key;        // canonical; "cloud1_region.<region>.vpc_id" and "k8s_kubeconfig_*" stand for many
  std::string alias;      // the provider's spelling where it differs
  std::string type;       // string, bool, int, float, list, json
  std::string panel;      // the settings page that edits it
  std::string group;      // panel, wizard, settings, storage, region_field, …
  std::string exclusion;  // reason word (exclusion.hpp), empty when it travels
  bool is_secret = false;
  bool is_vault_pointer = false;
  bool is_on_prem = false;
};

// Sorted by key.
const std::vector<KeyInfo>& registered_keys();
// Exact key, else the pattern that covers it, else nullptr.
const KeyInfo* lookup(std::string_view key);

bool is_secret(std::string_view key);
// The value names a secret that is kept elsewhere; it is shown and travels verbatim.
bool is_vault_pointer(std::string_view key);

// What stands for a secret's value wherever settings are shown: eight U+2022 BULLET.
inline constexpr std::string_view kMask = "••••••••";
// Anything that starts with two bullets: never content, never written.
bool is_masked(std::string_view value);

}  // namespace dash::config
