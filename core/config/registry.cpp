#include "core/config/registry.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <unordered_map>

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
  std::vector<KeyInfo> keys;                                     // sorted
  std::unordered_map<std::string_view, const KeyInfo*> by_name;  // all of them
  // Those that end with '*', without it; sorted.
  std::vector<std::pair<std::string_view, const KeyInfo*>> by_prefix;
};

Registry load() {
  auto text = embedded("core/config/keys.yaml");
  if (!text) throw std::logic_error("core/config/keys.yaml is not embedded");
  Registry registry;
  for (const auto& entry : YAML::Load(std::string(*text)))
    registry.keys.push_back(parse_line(entry.first.Scalar(), entry.second.Scalar()));
  std::ranges::sort(registry.keys, {}, &KeyInfo::key);
  for (const auto& info : registry.keys) {
    std::string_view name = info.key;
    registry.by_name.emplace(name, &info);
    if (name.ends_with('*')) registry.by_prefix.emplace_back(name.substr(0, name.size() - 1), &info);
  }
  return registry;
}

const Registry& registry() {
  static const Registry loaded = load();
  return loaded;
}

const KeyInfo* find_exact(std::string_view key) {
  auto it = registry().by_name.find(key);
  return it == registry().by_name.end() ? nullptr : it->second;
}

// No pattern begins another one, so that only the last one before the key can be its beginning.
const KeyInfo* find_pattern(std::string_view key) {
  const auto& patterns = registry().by_prefix;
  auto after = std::ranges::upper_bound(patterns, key, {}, [](const auto& pattern) { return pattern.first; });
  if (after == patterns.begin() || !key.starts_with(std::prev(after)->first)) return nullptr;
  return std::prev(after)->second;
}

}  // namespace

const std::vector<KeyInfo>& registered_keys() { return registry().keys; }

const KeyInfo* lookup(std::string_view key) {
  auto canonical = canonical_key(key);
  if (const auto* found = find_exact(canonical)) return found;
  if (auto region = split_region_key(canonical))
    return find_exact(region->cloud + "_region.<region>." + region->field);
  return find_pattern(canonical);
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
