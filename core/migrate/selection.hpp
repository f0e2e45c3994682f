// Selects what of a bundle is to be written: the denylist, --only, --regions and empty values are resolved
// before any instance is called. The result has final key names: flat keys, region keys (merged) or whole
// region sets (replaced). Pure.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/migrate/bundle/bundle.hpp"

namespace dash::migrate {

struct Selection {
  std::vector<std::string> only;  // prefixes of final key names, either spelling; empty selects everything
  bool replace_regions = false;
  bool include_on_prem = false;
  bool allow_empty_values = false;
  bool operator==(const Selection&) const = default;
};

// Selects the webhooks with --only; their entries are shown as "notification_endpoints.<name>".
inline constexpr std::string_view kWebhooksName = "notification_endpoints";

struct SelectedConfig {
  config::Values values;
  std::vector<setup::FullWebhook> webhooks;
  std::map<std::string, std::string> refused;  // excluded keys of a hand-edited bundle → reason word
  std::vector<std::string> masked;             // never sent
  std::vector<std::string> empty_region_sets;  // clouds that a replace would have emptied
  std::size_t webhooks_left_out = 0;           // by --only
};

// Moves the keys out of the bundle's config, which may be large, and leaves the rest of the bundle as it is.
// Code::integrity, naming `file` and the reason, when nothing is left to write.
Result<SelectedConfig> select(Bundle& bundle, const Selection& selection, std::string_view file);

// Returns whether the final key name starts with one of the prefixes, in either spelling.
bool is_selected(const std::vector<std::string>& only, std::string_view key);

}  // namespace dash::migrate
