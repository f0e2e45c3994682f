// The location of a machine: region and zone of a deploy's body or of a teardown's query, parsed and folded
// in one way, so that both name the same place.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/json.hpp"
#include "core/jobs/actions.hpp"

namespace dash::jobs {

struct RawLocation {
  std::string region, zone;  // trimmed; empty when not given
};
// Reads the members that `deploy` takes a region from, and `zone` where the cloud's deploys have one. There a
// zone may replace the region. Code::validation for a wrong type or two spellings that differ.
Result<RawLocation> parse_location(const Action& deploy, std::string_view cloud, const Json& body);

struct Location {
  std::string typed;   // the region as typed
  std::string region;  // folded
  std::string zone;    // folded
};
// Folds region and zone. An empty region becomes that of the zone, or stays empty. Code::invalid for a
// malformed name, Code::validation for a zone of another region.
Result<Location> normalize_location(std::string_view cloud, RawLocation typed);

// Returns "us-central1" of "us-central1-a"; nullopt when it does not look like a zone.
std::optional<std::string> region_of_zone(std::string_view zone);

}  // namespace dash::jobs
