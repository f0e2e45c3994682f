// The cursors of a store's lists: a list whose pages lead back to themselves would never end.
#pragma once
#include <string>

#include "core/base/error.hpp"

namespace dash::storage {

// Moves on to the next page; empty: there is none. Code::upstream when that is the page that was just read.
Result<void> advance_cursor(std::string& cursor, std::string next);

}  // namespace dash::storage
