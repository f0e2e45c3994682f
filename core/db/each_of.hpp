// Queries about many values at once.
#pragma once
#include <span>
#include <string>

#include "core/db/sql.hpp"

namespace dash::db {

// Runs a query about all of `values`, some hundreds at a time, and calls `row` for each of its rows. Each {0} in
// `sql` stands for the placeholders of the values, numbered after those of `params`: "… WHERE name IN ({0})".
Result<void> each_of(Transaction& tx, std::string_view sql, const Params& params,
                     std::span<const std::string> values, const std::function<Result<void>(const Row&)>& row);

}  // namespace dash::db
