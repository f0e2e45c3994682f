// What a body of POST /api/setup/import asks to be written, sorted out before anything is touched. Pure.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.hpp"
#include "core/config/encrypted_store.hpp"
#include "core/config/regions.hpp"

namespace dash::setup {

struct ImportRules {
  bool include_on_prem = true;  // the client's opt-in; false asks the server to hold that group too
  // Whether a blob replaces its cloud's region sets or is merged into them. Not said at all it replaces them,
  // as the deployed dashboards' own client means it, but an empty one is refused then.
  std::optional<bool> replace_regions = std::nullopt;
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
  std::map<std::string, std::string> sent;            // canonical key → as sent, of `flat`
  std::string sent_key(const std::string& canonical) const;
  bool is_empty() const { return flat.empty() && region_fields.empty() && replaced.empty(); }
};

// `config` is an object. null and masked values are skipped; booleans become 1 and 0, numbers and containers
// their JSON text. Reasons: the held-back words (core/config/exclusion.hpp), invalid_key, given_twice,
// invalid_region_key, malformed_region_set, empty_region_set.
ImportBody sort_import(const Json& config, const ImportRules& rules);

// The text that a JSON value is kept as.
std::string setting_text(const Json& value);

// Adds the region fields and whole maps to `changes` as the clouds' blobs, on top of what `stored` holds. A
// masked field of a whole map keeps what is stored.
void add_region_changes(const ImportBody& body, const config::Values& stored, config::Changes& changes);

}  // namespace dash::setup
