#include "core/setup/rollback_result.hpp"

#include <set>

#include "core/config/regions.hpp"

namespace dash::setup {
namespace {

using config::RegionMap;

std::string_view text_of(const std::optional<std::string>& value) {
  return value ? std::string_view(*value) : std::string_view();
}

const config::RegionFields& fields_of(const RegionMap& map, const std::string& region) {
  static const config::RegionFields none;
  auto at = map.find(region);
  return at == map.end() ? none : at->second;
}

void add_differing(const RegionMap& a, const RegionMap& b, std::set<std::string>& into) {
  for (const auto& map : {a, b})
    for (const auto& [region, fields] : map)
      if (fields_of(a, region) != fields_of(b, region)) into.insert(region);
}

}  // namespace

OrderedJson to_json(const RollbackResult& result) {
  return {{"ok", true},
          {"restored", result.restored},
          {"regions_restored", result.regions_restored},
          {"iac_state_migrated", result.iac_state_migrated},
          {"iac_state_left", storage::to_json(result.iac_state_left)}};
}

RollbackResult report_of(const config::Changes& undo, const config::Values& before) {
  RollbackResult report;
  std::set<std::string> regions;
  for (const auto& [key, value] : undo) {
    auto at = before.find(key);
    auto stored = at == before.end() ? std::nullopt : std::optional(at->second);
    if (stored == value) continue;
    auto cloud = config::cloud_of_region_blob(key);
    auto was = cloud ? config::parse_region_blob(*cloud, text_of(stored)) : RegionMap{};
    auto is = cloud ? config::parse_region_blob(*cloud, text_of(value)) : RegionMap{};
    if (cloud && was && is)
      add_differing(*was, *is, regions);
    else
      report.restored.push_back(key);
  }
  report.regions_restored.assign(regions.begin(), regions.end());
  return report;
}

}  // namespace dash::setup
