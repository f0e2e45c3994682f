// Two backends beside each other, name by name, while only a page of each is held. Called by migration.cpp and
// comparison.cpp.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/storage/assets/assets.hpp"

namespace dash::storage {

struct BackendPair {
  OpenBackend from, to;
};

// One of the two is nullptr where only the other backend has the name. They are valid during the call.
using VisitAssets = std::function<Result<void>(const Asset* source, const Asset* target)>;

// Calls `visit` with each name of either backend, in byte order. A store whose pages are not in that order (an
// Azure account with a hierarchical namespace) is found out on the way: then `restart` is called, and
// everything is visited again from whole lists. An error of `visit` ends it.
Result<void> visit_both(Assets& assets, const Principal& principal, const BackendPair& pair,
                        const std::function<void()>& restart, const VisitAssets& visit);

}  // namespace dash::storage
