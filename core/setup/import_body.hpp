// What a body of POST /api/setup/import asks to be written, sorted out before anything is touched. Pure.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/base/json.hpp"
#include "core/config/regions.hpp"
#include "core/config/store.hpp"

namespace dash::setup {

struct ImportRules {
  bool include_on_prem = true;   // the client's opt-in; false asks the server to hold that group too
  bool replace_regions = false;  // a cloud's region sets are replaced by the blob that is sent, not merged
};

struct RegionField {
  config::RegionKey key;
  std::string value;
};

struct ImportBody {
  config::Values flat;                                // canonical key → text
  std::vector<RegionField> region_fields;             // to be merged
  std::map<std::string, config::RegionMap> replaced;  // cloud → whole new map
  std::vector<std::string> regions;                   // names as sent, sorted, once each
  std::map<std::string, std::string> refused;         // key as sent → reason word
  bool is_empty() const { return flat.empty() && region_fields.empty() && replaced.empty(); }
};

// `config` is an object. null and masked values are skipped; booleans become 1 and 0, numbers and containers
// their JSON text. Reasons: the held-back words (core/config/held_back.hpp), invalid_key, given_twice,
// invalid_region_key, malformed_region_set.
ImportBody sort_import(const Json& config, const ImportRules& rules);

// The text that a JSON value is kept as.
std::string setting_text(const Json& value);

// Adds the region fields and whole maps to `changes` as the clouds' blobs, on top of what `stored` holds.
void add_region_changes(const ImportBody& body, const config::Values& stored, config::Changes& changes);

}  // namespace dash::setup
