#include "core/config/masking.hpp"

#include "core/base/redact.hpp"
#include "core/config/registry.hpp"
#include "core/config/vault_reference.hpp"

namespace dash::config {
namespace {

// Returns the set with each field rewritten; unchanged text, or text that is no region set, is returned as it
// is.
template <class Rewrite>
std::string rewrite_region_set(const std::string& cloud, std::string_view text, Rewrite rewrite) {
  auto map = parse_region_blob(cloud, text);
  if (!map) return without_userinfo(text);
  bool is_changed = false;
  for (auto& [region, fields] : *map)
    for (auto& [field, value] : fields) {
      auto other = rewrite(region_key(cloud, region, field), value);
      is_changed |= other != value;
      value = std::move(other);
    }
  return is_changed ? write_region_blob(*map) : std::string(text);
}

bool is_vault_reference(std::string_view value) { return !vault_scheme(value).empty(); }

}  // namespace

bool is_secret_value(std::string_view key, std::string_view value) {
  if (value.empty() || is_vault_reference(value)) return false;
  return is_secret(key) || has_userinfo(value);
}

std::string masked_value(std::string_view key, std::string_view value) {
  if (auto cloud = cloud_of_region_blob(key)) return rewrite_region_set(*cloud, value, masked_value);
  return std::string(is_secret_value(key, value) ? kMask : value);
}

std::string audited_value(std::string_view key, std::string_view value) {
  if (auto cloud = cloud_of_region_blob(key)) return rewrite_region_set(*cloud, value, audited_value);
  if (is_secret(key) && !value.empty()) return std::string(kMask);
  return is_vault_reference(value) ? std::string(value) : without_userinfo(value);
}

bool has_masked_field(const RegionMap& map) {
  for (const auto& [region, fields] : map)
    for (const auto& [field, value] : fields)
      if (is_masked(value)) return true;
  return false;
}

RegionMap restore_masked_fields(RegionMap sent, const RegionMap& stored) {
  for (auto& [region, fields] : sent) {
    auto stored_fields = stored.find(region);
    for (auto it = fields.begin(); it != fields.end();) {
      if (!is_masked(it->second)) {
        ++it;
        continue;
      }
      auto value = stored_fields == stored.end() ? RegionFields::const_iterator()
                                                 : stored_fields->second.find(it->first);
      if (stored_fields == stored.end() || value == stored_fields->second.end()) {
        it = fields.erase(it);
        continue;
      }
      it->second = value->second;
      ++it;
    }
  }
  return sent;
}

std::string restore_masked_fields(std::string_view cloud, std::string_view sent, std::string_view stored) {
  auto map = parse_region_blob(cloud, sent);
  if (!map || !has_masked_field(*map)) return std::string(sent);
  auto stored_fields = parse_region_blob(cloud, stored);
  return write_region_blob(
      restore_masked_fields(*std::move(map), stored_fields ? *stored_fields : RegionMap{}));
}

}  // namespace dash::config
