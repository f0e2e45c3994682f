// How much a backend held at its last sweep: the objects beneath the asset prefix and images/.
#pragma once
#include <map>
#include <string>

#include "core/base/clock.hpp"
#include "core/base/json.hpp"
#include "core/db/sql.hpp"
#include "core/storage/settings/stores.hpp"

namespace dash::storage {

struct Usage {
  std::int64_t items = 0;
  std::int64_t bytes = 0;
  Time at;
};
OrderedJson to_json(const Usage& usage);  // {items, bytes, at}
// Lists the backend and records what it holds.
Result<void> record_usage(db::Sql& sql, const OpenBackend& at, Time now);
// backend id → usage, of every backend that was swept.
Result<std::map<std::string, Usage>> recorded_usage(db::Sql& sql);

}  // namespace dash::storage
