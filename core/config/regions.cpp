#include "core/config/regions.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "core/base/text.hpp"
#include "core/config/clouds.hpp"

namespace dash::config {
namespace {

constexpr std::string_view kInfix = "_region.";
constexpr std::string_view kBlobSuffix = "_region_configs";

// "cloud1_region." as cloud1, and the text after it.
struct PrefixedKey {
  std::string cloud;
  std::string_view rest;
};
std::optional<PrefixedKey> split_prefix(std::string_view key) {
  auto infix = key.find(kInfix);
  if (infix == key.npos) return std::nullopt;
  auto name = key.substr(0, infix);
  for (const auto& c : clouds())
    if (name == c.cloud || name == c.provider)
      return PrefixedKey{std::string(c.cloud), key.substr(infix + kInfix.size())};
  return std::nullopt;
}

std::optional<std::string> field_text(const Json& value) {
  if (value.is_null()) return std::nullopt;
  auto text = value.is_string() ? std::string(trim(value.get_ref<const std::string&>())) : dump_json(value);
  if (text.empty()) return std::nullopt;
  return text;
}

std::string quoted(const std::string& text) { return dump_json(Json(text)); }

using Fields = std::vector<std::string_view>;
// The models of a Python dashboard, cloud by cloud; it has none for the fourth.
const std::map<std::string, Fields, std::less<>>& peer_models() {
  static const std::map<std::string, Fields, std::less<>> models = {
      {"cloud1",
       {"default_subnet_id", "default_security_group_id", "ssh_key_secret", "ssm_instance_profile",
        "db_subnet_group_name", "vpc_id", "vpc_cidr", "private_route_table_id", "db_security_group_id",
        "db_parameter_group_name", "db_mysql_parameter_group_name", "nat_security_group_id", "ecs_subnet_id",
        "ecs_security_group_ids", "ecs_cluster", "jumpoint_subnet_id", "jumpoint_security_group_id"}},
      {"cloud2",
       {"resource_group", "vnet_resource_group", "default_subnet_id", "desktops_subnet_id", "db_subnet_id",
        "db_mysql_subnet_id", "db_private_dns_zone_id", "db_mysql_private_dns_zone_id",
        "db_sqlserver_subnet_id", "db_sqlserver_private_dns_zone_id", "jumpoint_subnet_id", "gallery_name",
        "gallery_resource_group", "default_vm_size"}},
      {"cloud3",
       {"zone", "network", "subnetwork", "jumpoint_subnetwork", "db_network", "ssh_key_secret",
        "default_network_tag", "ecs_subnetwork", "router_name", "nat_name", "k8s_subnetwork",
        "k8s_pods_range", "k8s_services_range", "k8s_node_tag"}},
  };
  return models;
}

}  // namespace

std::string normalize_region(std::string_view cloud, std::string_view name) {
  auto out = lower(trim(name));
  if (cloud == "cloud2") std::erase(out, ' ');
  return out;
}

bool has_region_prefix(std::string_view key) { return split_prefix(key).has_value(); }

std::optional<RegionKey> split_region_key(std::string_view key) {
  auto prefixed = split_prefix(key);
  if (!prefixed) return std::nullopt;
  auto dot = prefixed->rest.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  RegionKey out{prefixed->cloud, normalize_region(prefixed->cloud, prefixed->rest.substr(0, dot)),
                std::string(trim(prefixed->rest.substr(dot + 1)))};
  if (out.region.empty() || out.field.empty()) return std::nullopt;
  return out;
}

std::string region_key(std::string_view cloud, std::string_view region, std::string_view field) {
  return fmt::format("{}{}{}.{}", cloud, kInfix, region, field);
}

std::optional<std::string> cloud_of_region_blob(std::string_view key) {
  if (!key.ends_with(kBlobSuffix)) return std::nullopt;
  key.remove_suffix(kBlobSuffix.size());
  for (const auto& c : clouds())
    if (key == c.cloud || key == c.provider) return std::string(c.cloud);
  return std::nullopt;
}

std::string region_blob_key(std::string_view cloud) { return std::string(cloud) + std::string(kBlobSuffix); }

RegionMap region_map(std::string_view cloud, const Json& object) {
  RegionMap out;
  if (!object.is_object()) return out;
  for (const auto& [name, fields] : object.items()) {
    auto region = normalize_region(cloud, name);
    if (region.empty() || !fields.is_object()) continue;
    for (const auto& [field, value] : fields.items()) {
      auto text = field_text(value);
      auto trimmed = std::string(trim(field));
      // A dot would become a part of the region's name in the field's key.
      if (text && !trimmed.empty() && trimmed.find('.') == std::string::npos) out[region][trimmed] = *text;
    }
  }
  return out;
}

Result<RegionMap> parse_region_blob(std::string_view cloud, std::string_view text) {
  if (trim(text).empty()) return RegionMap{};
  auto json = parse_json(text);
  if (!json || !json->is_object())
    return fail(Code::invalid, "{} is not a JSON object of regions", region_blob_key(cloud));
  return region_map(cloud, *json);
}

bool set_region_field(RegionMap& map, const RegionKey& key, std::string_view value) {
  auto text = trim(value);
  if (text.empty()) return false;
  auto& field = map[key.region][key.field];
  if (field == text) return false;
  field = text;
  return true;
}

void merge_regions(RegionMap& into, const RegionMap& from) {
  for (const auto& [region, fields] : from)
    for (const auto& [field, value] : fields) set_region_field(into, {"", region, field}, value);
}

std::string write_region_blob(const RegionMap& map) {
  std::string out = "{";
  for (const auto& [region, fields] : map) {
    if (fields.empty()) continue;
    out += out.size() > 1 ? ", " : "";
    out += quoted(region) + ": {";
    bool first = true;
    for (const auto& [field, value] : fields) {
      out += first ? "" : ", ";
      out += quoted(field) + ": " + quoted(value);
      first = false;
    }
    out += "}";
  }
  return out + "}";
}

bool is_known_to_peer(const RegionKey& key) {
  auto model = peer_models().find(key.cloud);
  return model != peer_models().end() && key.region.find('.') == std::string::npos &&
         std::ranges::find(model->second, key.field) != model->second.end();
}

}  // namespace dash::config
