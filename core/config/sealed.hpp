// Settings as they lie in the database, for who keeps what he read until one of them changes: equal rows open
// to equal values.
#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "core/db/sql.hpp"

namespace dash::config {

using SealedRows = std::map<std::string, std::string>;

// Those of the keys that are there. Keys are ours: letters, digits and underscores.
Result<SealedRows> sealed_rows(db::Transaction& tx, std::span<const std::string_view> keys);

}  // namespace dash::config
