#include "core/images/staging.hpp"

#include <algorithm>
#include <array>

#include "core/base/text.hpp"
#include "core/images/image_copy.hpp"
#include "core/storage/store/key.hpp"

namespace dash::images {
namespace {

using storage::value_of;

constexpr std::string_view kAccountOfCloud2 = "storage_obj_cloud2_account";
constexpr std::string_view kDefaultStagingPrefix = "promote-staging";

struct StagingKeys {
  std::string_view cloud;
  std::string_view place;   // the setting that names bucket or account
  std::string_view prefix;  // the setting of the prefix
  std::string_view bucket;  // the setting of the cloud's asset bucket or account
};
constexpr std::array<StagingKeys, 4> kStagingKeys{{
    {"cloud1", "promote_runner_aws_staging_bucket", "promote_runner_aws_staging_prefix",
     "storage_obj_cloud1_bucket"},
    {"cloud2", "promote_runner_azure_staging_account", "promote_runner_azure_staging_prefix",
     kAccountOfCloud2},
    {"cloud3", "promote_runner_gcp_staging_bucket", "promote_runner_gcp_staging_prefix",
     "storage_obj_cloud3_bucket"},
    {"cloud4", "promote_runner_oci_staging_bucket", "promote_runner_oci_staging_prefix",
     "storage_obj_cloud4_bucket"},
}};

std::string trimmed(const config::Values& values, std::string_view key) {
  return std::string(trim(value_of(values, key)));
}

Result<const StagingKeys*> find_cloud(std::string_view text) {
  auto name = config::canonical_cloud(lower(trim(text)));
  auto found = std::ranges::find(kStagingKeys, name, &StagingKeys::cloud);
  if (found != kStagingKeys.end()) return &*found;
  std::string valid;
  for (const auto& each : config::clouds())
    valid += fmt::format("{}{} ({})", valid.empty() ? "" : ", ", each.cloud, each.provider);
  return fail(Code::invalid, "Unknown cloud '{}'. Valid: {}.", text, valid);
}

// Returns what differs from the cloud's asset store.
config::Values changes_for(const StagingKeys& keys, const config::Values& values) {
  config::Values changes;
  auto place = trimmed(values, keys.place);
  if (!place.empty()) changes[std::string(keys.bucket)] = place;
  if (keys.cloud != "cloud2") return changes;
  if (auto container = trimmed(values, "promote_runner_azure_staging_container"); !container.empty())
    changes["storage_obj_cloud2_container"] = container;
  // Another account has another address, and the key of this one opens it not.
  if (!place.empty() && place != trimmed(values, kAccountOfCloud2))
    changes.merge(
        config::Values{{"storage_obj_cloud2_account_key", ""}, {"storage_obj_cloud2_endpoint", ""}});
  return changes;
}

Result<std::string> staging_prefix(const StagingKeys& keys, const config::Values& values) {
  auto prefix = trimmed(values, keys.prefix);
  while (prefix.ends_with('/')) prefix.pop_back();
  while (prefix.starts_with('/')) prefix.erase(0, 1);
  if (prefix.empty()) prefix = kDefaultStagingPrefix;
  TRY(within(keys.prefix, storage::check_key(prefix)));
  TRY(storage::check_asset_prefix(keys.prefix, prefix));
  return prefix + "/";
}

}  // namespace

Result<Staging> open_staging(storage::Stores& stores, const Principal& principal,
                             const storage::OpenBackend& hub, std::string_view cloud) {
  const auto* keys = TRY(find_cloud(cloud));
  auto settings = TRY(stores.settings());
  const auto& values = settings->values();
  auto changes = changes_for(*keys, values);
  if (trimmed(values, keys->bucket).empty() && trimmed(values, keys->place).empty())
    return fail(Code::invalid, "{} has no place for images that are promoted to it: set {}, or configure {}",
                keys->cloud, keys->place, keys->bucket);
  const auto& backend = *TRY(storage::find_backend(fmt::format("obj_{}", keys->cloud)));
  Staging out;
  out.cloud = keys->cloud;
  out.at = TRY(stores.open_other(principal, backend, changes));
  out.at.prefix = TRY(staging_prefix(*keys, values));
  out.bucket = bucket_of(*out.at.store);
  bool is_other_account = changes.contains("storage_obj_cloud2_account_key");
  if (backend.id == hub.id() && !is_other_account) out.hub_bucket = bucket_of(*hub.store);
  return out;
}

OrderedJson next_step(const config::Values& values, const std::string& cloud) {
  auto own = fmt::format("promote_runner_{}_", config::provider_cloud(cloud));
  auto settings = OrderedJson::object();
  for (const auto& [key, value] : values) {
    bool is_of_cloud = key.starts_with(own) || (cloud == "cloud1" && key.starts_with("promote_runner_ecs_"));
    if (is_of_cloud && !trim(value).empty()) settings[key] = value;
  }
  auto image = trimmed(values, "promote_runner_image");
  return {{"started", false},
          {"what",
           "Start the promote runner's task in the cloud: it makes a machine image of the staged object."},
          {"runner_image", image.empty() ? OrderedJson(nullptr) : OrderedJson(image)},
          {"settings", std::move(settings)}};
}

}  // namespace dash::images
