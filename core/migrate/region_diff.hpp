// The part of a comparison for --regions replace: what a cloud's region sets on the target become when the
// bundle's replace them, and what is lost. Pure.
#pragma once
#include <string>
#include <vector>

#include "core/migrate/diff.hpp"

namespace dash::migrate {

struct RegionReplacement {
  config::RegionMap sent;                 // empty: the bundle has nothing that the target can keep
  std::vector<std::string> would_drop;    // region keys that a Python dashboard's model lacks
  std::vector<std::string> masked;        // region keys with a value on neither side
  std::vector<std::string> would_vanish;  // "cloud1_region.eu-west-1": regions that only the target has
  std::vector<std::string> would_lose;    // region keys that only the target has, in regions that stay
};
// Computes the replacement. A masked field of the bundle keeps the target's value.
RegionReplacement replace_regions(const std::string& cloud, const config::RegionMap& mine,
                                  const config::RegionMap& theirs, bool is_peer);

// Returns Category::unknown when the sets differ at most where the target masks its fields. The region keys
// of those fields go into `hidden` with the values of `mine`, for a blind comparison.
Category compare_regions(const std::string& cloud, const config::RegionMap& mine,
                         const config::RegionMap& theirs, config::Values& hidden);

}  // namespace dash::migrate
