// The one table of names: canonical (cloud1…cloud4) ↔ the provider's (aws, azure, gcp, oci). Every input
// takes either spelling; inside there is only the canonical one. All functions are total: an unknown name is
// returned unchanged, so canonical(canonical(x)) == canonical(x) and canonical(provider(x)) == canonical(x).
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace dash::config {

struct CloudNames {
  std::string_view cloud, provider;                      // cloud1, aws
  std::string_view backend, provider_backend;            // obj_cloud1, s3
  std::string_view storage_keys, provider_storage_keys;  // storage_obj_cloud1_, storage_s3_
  std::string_view actions, provider_actions;            // cloud1:vm:, aws:ec2:
};
std::span<const CloudNames> clouds();

enum class NameStyle { canonical, provider };

std::string canonical_cloud(std::string_view text);
std::string provider_cloud(std::string_view canonical);

// Converts setting keys by the longest known prefix (aws_… ↔ cloud1_…, storage_s3_… ↔ storage_obj_cloud1_…).
// A cloud's name further inside of a key (k8s_runner_aws) is part of the name in both spellings.
std::string canonical_key(std::string_view text);
std::string provider_key(std::string_view canonical);
// Returns true when only the provider's spelling writes the key so.
bool is_provider_key(std::string_view text);

std::string canonical_backend(std::string_view text);
std::string provider_backend(std::string_view canonical);

std::string canonical_action(std::string_view text);
std::string provider_action(std::string_view canonical);

// The prefix of infrastructure state at the bucket's root: iac-state/… ↔ terraform-state/….
inline constexpr std::string_view kStatePrefix = "iac-state/";
inline constexpr std::string_view kProviderStatePrefix = "terraform-state/";

// Converts the value of a setting that is itself a name of the table (the active backend, the list of gated
// actions). Other values are returned unchanged. `key` is canonical.
std::string canonical_value(std::string_view key, std::string_view text);
std::string provider_value(std::string_view key, std::string_view text);

// Returns the key in a style; `canonical` is canonical.
inline std::string key_in_style(NameStyle style, std::string_view canonical) {
  return style == NameStyle::provider ? provider_key(canonical) : std::string(canonical);
}
inline std::string value_in_style(NameStyle style, std::string_view key, std::string_view text) {
  return style == NameStyle::provider ? provider_value(key, text) : std::string(text);
}

}  // namespace dash::config
