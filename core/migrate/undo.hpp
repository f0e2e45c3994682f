// What an import can undo on a target without history: the snapshot that was stored before it is imported
// again with --regions replace --allow-empty-values --include-on-prem. Pure.
#pragma once
#include <string>
#include <vector>

#include "core/migrate/apply.hpp"

namespace dash::migrate {

struct UndoLimits {
  std::size_t added = 0;               // keys that stay, because an import removes none
  std::size_t masked = 0;              // keys whose former value the target never showed
  std::vector<std::string> malformed;  // region sets that a bundle cannot hold
};
UndoLimits undo_limits(const Diff& diff, const ApplyResult& applied);

// Returns "remove 2 added keys, nor bring back the values of 1 masked key"; empty when the snapshot undoes
// everything.
std::string to_text(const UndoLimits& limits);

}  // namespace dash::migrate
