// Sorts a body of POST /api/setup/import into what is to be written, before anything is changed. Pure.
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
  bool include_on_prem = true;  // the client's opt-in; false: the server excludes that group too
  // Whether a blob replaces its cloud's region sets or is merged into them. When absent it replaces them, as
  // the client of deployed dashboards means it, but an empty one is then refused.
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

// Sorts `config`, an object. null and masked values are skipped. Booleans become 1 and 0, numbers and
// containers their JSON text. Reasons: the words of core/config/exclusion.hpp, invalid_key, given_twice,
// invalid_region_key, malformed_region_set, empty_region_set.
ImportBody sort_import(const Json& config, const ImportRules& rules);

// Returns the text under which a JSON value is stored.
std::string setting_text(const Json& value);

// Adds the region fields and whole maps to `changes` as the clouds' blobs, on top of `stored`. A masked field
// of a whole map keeps the stored value.
void add_region_changes(const ImportBody& body, const config::Values& stored, config::Changes& changes);

}  // namespace dash::setup
