#include "core/config/registry.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "core/base/embedded.hpp"
#include "core/base/text.hpp"
#include "core/config/clouds.hpp"
#include "core/config/regions.hpp"

namespace dash::config {
namespace {

// The name of a secret stored elsewhere; checked before the endings of secrets.
constexpr std::array<std::string_view, 5> kPointerSuffixes = {"_secret_name", "_secret_title", "_key_secret",
                                                              "_secret_ref", "_ref"};
constexpr auto kSecretSuffixes = std::to_array<std::string_view>({"_secret",
                                                                  "_password",
                                                                  "_token",
                                                                  "_api_key",
                                                                  "_pat",
                                                                  "_private_key",
                                                                  "_passphrase",
                                                                  "_deploy_key",
                                                                  "_service_account_json",
                                                                  "_secret_key",
                                                                  "_access_key",
                                                                  "_account_key",
                                                                  "_client_key",
                                                                  "_credential",
                                                                  "_credentials",
                                                                  "_connection_string",
                                                                  "_dsn",
                                                                  "_pem",
                                                                  "_pwd",
                                                                  "_passwd"});

template <class Suffixes>
bool has_suffix_of(std::string_view key, const Suffixes& suffixes) {
  return std::ranges::any_of(suffixes, [&](std::string_view e) { return key.ends_with(e); });
}

KeyInfo parse_line(std::string key, std::string_view words) {
  KeyInfo info;
  info.key = std::move(key);
  for (int column = 0; !words.empty(); ++column) {
    auto word = words.substr(0, words.find(' '));
    words.remove_prefix(std::min(words.size(), word.size() + 1));
    if (column == 0) {
      info.type = word;
    } else if (column == 1) {
      info.panel = word.substr(0, word.find('/'));
      info.group = word.substr(word.find('/') + 1);
    } else if (word.starts_with("alias=")) {
      info.alias = word.substr(6);
    } else if (word.starts_with("held=")) {
      info.exclusion = word.substr(5);
    } else if (word == "secret") {
      info.is_secret = true;
    } else if (word == "pointer") {
      info.is_vault_pointer = true;
    } else if (word == "on_prem") {
      info.is_on_prem = true;
    }
  }
  return info;
}

struct Registry {
  std::vector<KeyInfo> keys;
  std::vector<std::size_t> prefixes;  // patterns that end with '*'
};

Registry load() {
  auto text = embedded("core/config/keys.yaml");
  if (!text) throw std::logic_error("core/config/keys.yaml is not embedded");
  Registry registry;
  for (const auto& entry : YAML::Load(std::string(*text)))
    registry.keys.push_back(parse_line(entry.first.Scalar(), entry.second.Scalar()));
  std::ranges::sort(registry.keys, {}, &KeyInfo::key);
  for (std::size_t i = 0; i < registry.keys.size(); ++i)
    if (registry.keys[i].key.ends_with('*')) registry.prefixes.push_back(i);
  return registry;
}

const Registry& registry() {
  static const Registry loaded = load();
  return loaded;
}

const KeyInfo* find_exact(std::string_view key) {
  const auto& keys = registry().keys;
  auto it =
      std::ranges::lower_bound(keys, key, {}, [](const KeyInfo& k) -> std::string_view { return k.key; });
  return it != keys.end() && it->key == key ? &*it : nullptr;
}

}  // namespace

const std::vector<KeyInfo>& registered_keys() { return registry().keys; }

const KeyInfo* lookup(std::string_view key) {
  auto canonical = canonical_key(key);
  if (const auto* found = find_exact(canonical)) return found;
  if (auto region = split_region_key(canonical))
    return find_exact(region->cloud + "_region.<region>." + region->field);
  for (auto i : registry().prefixes) {
    const auto& info = registry().keys[i];
    auto prefix = std::string_view(info.key).substr(0, info.key.size() - 1);
    if (canonical.starts_with(prefix)) return &info;
  }
  return nullptr;
}

bool is_secret(std::string_view key) {
  if (const auto* info = lookup(key)) return info->is_secret;
  auto name = lower(trim(key));
  return !has_suffix_of(name, kPointerSuffixes) && has_suffix_of(name, kSecretSuffixes);
}

bool is_vault_pointer(std::string_view key) {
  if (const auto* info = lookup(key)) return info->is_vault_pointer;
  return has_suffix_of(lower(trim(key)), kPointerSuffixes);
}

bool is_masked(std::string_view value) { return value.starts_with("••"); }

}  // namespace dash::config
