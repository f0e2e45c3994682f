// Per-region resource sets: for each cloud a map region → field → text, kept as one JSON text a cloud under
// `<cloud>_region_configs`. They travel as keys `<cloud>_region.<region>.<field>` and merge field by field: a
// merge adds and overwrites, it never deletes. Cloud names here are canonical. Pure.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/json.hpp"

namespace dash::config {

using RegionFields = std::map<std::string, std::string>;
using RegionMap = std::map<std::string, RegionFields>;  // by region
using RegionSets = std::map<std::string, RegionMap>;    // by cloud

struct RegionKey {
  std::string cloud;   // cloud1
  std::string region;  // normalised; may hold dots
  std::string field;   // never holds a dot
};

// Trimmed, lower case; the second cloud writes names with and without spaces ("West US 2"), so there they go.
std::string normalize_region(std::string_view cloud, std::string_view name);

// "cloud1_region." and its sisters, either spelling; the key may still be malformed.
bool has_region_prefix(std::string_view key);
// nullopt when the key is not of the form or region or field is empty. Either spelling. The field is what
// follows the last dot.
std::optional<RegionKey> split_region_key(std::string_view key);
std::string region_key(std::string_view cloud, std::string_view region, std::string_view field);
// "cloud1" of "cloud1_region_configs", either spelling.
std::optional<std::string> cloud_of_region_blob(std::string_view key);
std::string region_blob_key(std::string_view cloud);

// Reads a stored or sent map: names normalised, values as text and trimmed, blank ones left out, entries that
// are not objects left out. Blank text is an empty map. Code::invalid when it is not JSON or not an object.
Result<RegionMap> parse_region_blob(std::string_view cloud, std::string_view text);
RegionMap region_map(std::string_view cloud, const Json& object);

// Overwrites one field; a blank value changes nothing. True when something changed.
bool set_region_field(RegionMap& map, const RegionKey& key, std::string_view value);
void merge_regions(RegionMap& into, const RegionMap& from);

// Sorted JSON with ", " and ": " between, as a Python dashboard stores it. Empty regions are left out.
std::string write_region_blob(const RegionMap& map);

// Whether a Python dashboard's model has the field; it drops others without a word.
bool is_known_to_peer(const RegionKey& key);

}  // namespace dash::config
