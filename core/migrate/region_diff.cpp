#include "core/migrate/region_diff.hpp"

#include "core/config/registry.hpp"

namespace dash::migrate {
namespace {

using config::RegionMap;

const std::string* find_field(const RegionMap& map, const std::string& region, const std::string& field) {
  auto fields = map.find(region);
  if (fields == map.end()) return nullptr;
  auto value = fields->second.find(field);
  return value == fields->second.end() ? nullptr : &value->second;
}

bool have_same_names(const RegionMap& a, const RegionMap& b) {
  auto names = [](const RegionMap& map) {
    std::vector<std::string> out;
    for (const auto& [region, fields] : map)
      for (const auto& [field, value] : fields) out.push_back(region + '\0' + field);
    return out;
  };
  return names(a) == names(b);
}

void add_losses(const std::string& cloud, const RegionMap& theirs, RegionReplacement& out) {
  for (const auto& [region, fields] : theirs) {
    if (!out.sent.contains(region)) {
      out.would_vanish.push_back(fmt::format("{}_region.{}", cloud, region));
      continue;
    }
    for (const auto& [field, value] : fields)
      if (!find_field(out.sent, region, field))
        out.would_lose.push_back(config::region_key(cloud, region, field));
  }
}

}  // namespace

RegionReplacement replace_regions(const std::string& cloud, const RegionMap& mine, const RegionMap& theirs,
                                  bool is_peer) {
  RegionReplacement out;
  for (const auto& [region, fields] : mine) {
    for (const auto& [field, value] : fields) {
      const auto* stored = find_field(theirs, region, field);
      if (is_peer && !config::is_known_to_peer({cloud, region, field})) {
        out.would_drop.push_back(config::region_key(cloud, region, field));
      } else if (!config::is_masked(value)) {
        out.sent[region][field] = value;
      } else if (stored) {
        out.sent[region][field] = *stored;
      } else {
        out.masked.push_back(config::region_key(cloud, region, field));
      }
    }
  }
  if (!out.sent.empty()) add_losses(cloud, theirs, out);
  return out;
}

Category compare_regions(const std::string& cloud, const RegionMap& mine, const RegionMap& theirs,
                         config::Values& hidden) {
  if (theirs.empty()) return Category::add;
  if (!have_same_names(mine, theirs)) return Category::change;
  config::Values blind;
  for (const auto& [region, fields] : mine) {
    for (const auto& [field, value] : fields) {
      const auto& stored = *find_field(theirs, region, field);
      if (value == stored) continue;
      if (!config::is_masked(stored)) return Category::change;
      blind[config::region_key(cloud, region, field)] = value;
    }
  }
  if (blind.empty()) return Category::same;
  hidden.merge(blind);
  return Category::unknown;
}

}  // namespace dash::migrate
