#include "core/setup/import_body.hpp"

#include <algorithm>
#include <set>

#include "core/base/log.hpp"
#include "core/config/clouds.hpp"
#include "core/config/exclusion.hpp"
#include "core/config/masking.hpp"
#include "core/config/registry.hpp"

namespace dash::setup {
namespace {

// Returns the region's name as the sender wrote it: between the first dot and the last.
std::string sent_region(const std::string& key) {
  auto first = key.find('.');
  return key.substr(first + 1, key.rfind('.') - first - 1);
}

class ImportSorter {
 public:
  explicit ImportSorter(const ImportRules& rules) : rules_(rules) {}

  void add(const std::string& key, const Json& value) {
    if (value.is_null()) return;
    auto text = setting_text(value);
    if (config::is_masked(text)) return;
    if (auto refusal = place(key, text); !refusal.empty()) body_.refused[key] = refusal;
  }

  ImportBody finish() {
    body_.regions.assign(regions_.begin(), regions_.end());
    return std::move(body_);
  }

 private:
  // Returns the reason for which the pair is refused, or "".
  std::string place(const std::string& key, const std::string& text) {
    if (!config::is_key(key)) return "invalid_key";
    if (auto cloud = config::cloud_of_region_blob(key)) return place_blob(key, *cloud, text);
    if (config::has_region_prefix(key)) return place_region_field(key, text);
    if (auto reason = config::exclusion_reason(key, text)) {
      if (*reason != config::Exclusion::on_prem || !rules_.include_on_prem)
        return std::string(config::word(*reason));
    }
    auto canonical = config::canonical_key(key);
    auto value = config::canonical_value(canonical, text);
    auto [at, is_new] = body_.flat.emplace(canonical, value);
    if (is_new && canonical != key) body_.sent[canonical] = key;
    return is_new || at->second == value ? "" : "given_twice";
  }

  std::string place_region_field(const std::string& key, const std::string& text) {
    auto parts = config::split_region_key(key);
    if (!parts) return "invalid_region_key";
    regions_.insert(sent_region(key));
    body_.region_fields.push_back({*parts, text});
    return "";
  }

  std::string place_blob(const std::string& key, const std::string& cloud, const std::string& text) {
    auto map = config::parse_region_blob(cloud, text);
    if (!map) {
      log::warning("config.region_set_malformed", {{"key", key}});
      return "malformed_region_set";
    }
    if (map->empty() && !rules_.replace_regions) return "empty_region_set";
    bool replaces = rules_.replace_regions.value_or(true);
    for (const auto& [region, fields] : *map) {
      regions_.insert(region);
      for (const auto& [field, value] : fields)
        if (!replaces && !config::is_masked(value))
          body_.region_fields.push_back({{cloud, region, field}, value});
    }
    if (replaces) body_.replaced[cloud] = *std::move(map);
    return "";
  }

  ImportRules rules_;
  ImportBody body_;
  std::set<std::string> regions_;
};

config::RegionMap stored_regions(const std::string& cloud, const config::Values& stored) {
  auto key = config::region_blob_key(cloud);
  auto blob = stored.find(key);
  auto map = config::parse_region_blob(cloud, blob == stored.end() ? "" : blob->second);
  if (map) return *std::move(map);
  // The text stays in the history.
  log::warning("config.region_set_malformed",
               {{"key", key}, {"message", "the stored set is not JSON; it is replaced"}});
  return {};
}

}  // namespace

std::string setting_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "1" : "0";
  return dump_json(value);
}

std::string ImportBody::sent_key(const std::string& canonical) const {
  auto at = sent.find(canonical);
  return at == sent.end() ? canonical : at->second;
}

ImportBody sort_import(const Json& config, const ImportRules& rules) {
  ImportSorter sorter(rules);
  for (const auto& [key, value] : config.items()) sorter.add(key, value);
  return sorter.finish();
}

void add_region_changes(const ImportBody& body, const config::Values& stored, config::Changes& changes) {
  std::map<std::string, config::RegionMap> maps;
  for (const auto& [cloud, map] : body.replaced)
    maps[cloud] = config::restore_masked_fields(map, stored_regions(cloud, stored));
  for (const auto& field : body.region_fields) {
    auto [at, is_new] = maps.try_emplace(field.key.cloud);
    if (is_new) at->second = stored_regions(field.key.cloud, stored);
    config::set_region_field(at->second, field.key, field.value);
  }
  for (const auto& [cloud, map] : maps)
    changes[config::region_blob_key(cloud)] = config::write_region_blob(map);
}

}  // namespace dash::setup
