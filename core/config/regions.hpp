// Per-region resource sets: for each cloud a map region → field → text, stored as one JSON text a cloud under
// `<cloud>_region_configs`. Between instances they are keys `<cloud>_region.<region>.<field>` and merge field
// by field: a merge adds and overwrites, it never deletes. Cloud names here are canonical. Pure.
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

// Trims and lowers. The second cloud writes names with and without spaces ("West US 2"), so its spaces are
// removed.
std::string normalize_region(std::string_view cloud, std::string_view name);

// Recognises "cloud1_region." and the other clouds' prefixes, in either spelling. The key may still be
// malformed.
bool has_region_prefix(std::string_view key);
// Returns nullopt when the key has another form, or region or field is empty. Either spelling. The field is
// the text after the last dot.
std::optional<RegionKey> split_region_key(std::string_view key);
std::string region_key(std::string_view cloud, std::string_view region, std::string_view field);
// Returns "cloud1" of "cloud1_region_configs", either spelling.
std::optional<std::string> cloud_of_region_blob(std::string_view key);
std::string region_blob_key(std::string_view cloud);

// Reads a stored or sent map. Names are normalised, values become trimmed text; blank values and entries that
// are not objects are left out. Blank text is an empty map. Code::invalid when it is not JSON or not an
// object.
Result<RegionMap> parse_region_blob(std::string_view cloud, std::string_view text);
RegionMap region_map(std::string_view cloud, const Json& object);

// Overwrites one field; a blank value changes nothing. Returns true when something changed.
bool set_region_field(RegionMap& map, const RegionKey& key, std::string_view value);
void merge_regions(RegionMap& into, const RegionMap& from);

// Returns sorted JSON with ", " and ": " between, as a Python dashboard stores it. Empty regions are left
// out.
std::string write_region_blob(const RegionMap& map);

// Returns whether a Python dashboard's model has the field. It drops others silently.
bool is_known_to_peer(const RegionKey& key);

}  // namespace dash::config
