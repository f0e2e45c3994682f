// Proves that a store can do all that the dashboard asks of it: `storage test --deep` and POST
// /api/storage/test {"deep": true}. Works beside the assets under random names that no listing shows, and
// removes what it made.
#pragma once
#include <string>
#include <vector>

#include "core/base/json.hpp"
#include "core/base/part_pool.hpp"
#include "core/storage/settings/stores.hpp"

namespace dash::storage {

struct Check {
  std::string name;     // "list", "write", "range", "replace", "multipart", "abort", "clock", "clean up"
  std::string problem;  // "" when it holds
  std::string note;     // what was seen
};
struct Card {
  std::string backend;
  std::string place;
  std::vector<Check> checks;
  bool is_good() const;
};
OrderedJson to_json(const Card&);

// Needs 8 MiB and one byte of room in the store. Code::busy without a free buffer.
Result<Card> deep_test(const Opened& at, PartPool& parts, const Clock& clock);

}  // namespace dash::storage
