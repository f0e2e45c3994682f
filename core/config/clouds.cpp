#include "core/config/clouds.hpp"

#include <array>

#include "core/base/text.hpp"
#include "core/config/active_backend.hpp"

namespace dash::config {
namespace {

constexpr std::array kClouds = {
    CloudNames{"cloud1", "aws", "obj_cloud1", "s3", "storage_obj_cloud1_", "storage_s3_",
               "cloud1:vm:", "aws:ec2:"},
    CloudNames{"cloud2", "azure", "obj_cloud2", "azure_blob", "storage_obj_cloud2_", "storage_azure_",
               "cloud2:vm:", "azure:vm:"},
    CloudNames{"cloud3", "gcp", "obj_cloud3", "gcs", "storage_obj_cloud3_", "storage_gcs_",
               "cloud3:vm:", "gcp:gce:"},
    CloudNames{"cloud4", "oci", "obj_cloud4", "oci_object_storage", "storage_obj_cloud4_", "storage_oci_",
               "cloud4:compute:", "oci:compute:"},
};

struct NamePair {
  std::string_view canonical, provider;
};
// Prefixes of keys that are not a cloud's, and the one key that no prefix covers.
constexpr NamePair kRunner{"automation_runner", "ansible_runner"};
constexpr NamePair kAttested{"dashboard_secrets_require_attested", "dashboard_secrets_require_spire"};

std::string swap_prefix(std::string_view text, std::string_view from, std::string_view to) {
  std::string out(to);
  out += text.substr(from.size());
  return out;
}

// aws_x ↔ cloud1_x: the cloud's name and an underscore.
bool has_cloud_prefix(std::string_view key, std::string_view name) {
  return key.size() > name.size() && key.starts_with(name) && key[name.size()] == '_';
}

// Replaces each name in a list ("a, b" or ["a","b"]) and leaves the rest as it is.
template <class Map>
std::string map_names(std::string_view text, Map&& map) {
  static constexpr std::string_view kSeparators = " \t\r\n,;[]\"'";
  std::string out;
  while (!text.empty()) {
    auto word = text.substr(0, text.find_first_of(kSeparators));
    out += map(word);
    text.remove_prefix(word.size());
    auto gap = text.substr(0, text.find_first_not_of(kSeparators));
    out += gap;
    text.remove_prefix(gap.size());
  }
  return out;
}

bool is_backend_key(std::string_view key) { return key == kActiveBackendKey || key == "storage_hub_backend"; }

constexpr std::string_view kActionList = "admission_gated_actions";

}  // namespace

std::span<const CloudNames> clouds() { return kClouds; }

std::string canonical_cloud(std::string_view text) {
  for (const auto& c : kClouds)
    if (text == c.provider) return std::string(c.cloud);
  return std::string(text);
}

std::string provider_cloud(std::string_view canonical) {
  for (const auto& c : kClouds)
    if (canonical == c.cloud) return std::string(c.provider);
  return std::string(canonical);
}

std::string canonical_key(std::string_view text) {
  for (const auto& c : kClouds) {
    if (has_cloud_prefix(text, c.provider)) return swap_prefix(text, c.provider, c.cloud);
    if (text.starts_with(c.provider_storage_keys))
      return swap_prefix(text, c.provider_storage_keys, c.storage_keys);
  }
  if (text.starts_with(kRunner.provider)) return swap_prefix(text, kRunner.provider, kRunner.canonical);
  return std::string(text == kAttested.provider ? kAttested.canonical : text);
}

std::string provider_key(std::string_view canonical) {
  for (const auto& c : kClouds) {
    if (has_cloud_prefix(canonical, c.cloud)) return swap_prefix(canonical, c.cloud, c.provider);
    if (canonical.starts_with(c.storage_keys))
      return swap_prefix(canonical, c.storage_keys, c.provider_storage_keys);
  }
  if (canonical.starts_with(kRunner.canonical))
    return swap_prefix(canonical, kRunner.canonical, kRunner.provider);
  return std::string(canonical == kAttested.canonical ? kAttested.provider : canonical);
}

bool is_provider_key(std::string_view text) { return canonical_key(text) != text; }

std::string canonical_backend(std::string_view text) {
  for (const auto& c : kClouds)
    if (text == c.provider_backend) return std::string(c.backend);
  return std::string(text);
}

std::string provider_backend(std::string_view canonical) {
  for (const auto& c : kClouds)
    if (canonical == c.backend) return std::string(c.provider_backend);
  return std::string(canonical);
}

std::string canonical_action(std::string_view text) {
  for (const auto& c : kClouds)
    if (text.starts_with(c.provider_actions)) return swap_prefix(text, c.provider_actions, c.actions);
  return std::string(text);
}

std::string provider_action(std::string_view canonical) {
  for (const auto& c : kClouds)
    if (canonical.starts_with(c.actions)) return swap_prefix(canonical, c.actions, c.provider_actions);
  return std::string(canonical);
}

std::string canonical_value(std::string_view key, std::string_view text) {
  if (is_backend_key(key)) return canonical_backend(trim(text));
  if (key == kActionList) return map_names(text, canonical_action);
  return std::string(text);
}

std::string provider_value(std::string_view key, std::string_view text) {
  if (is_backend_key(key)) return provider_backend(trim(text));
  if (key == kActionList) return map_names(text, provider_action);
  return std::string(text);
}

}  // namespace dash::config
