// What the numbers among the settings may be: one table, for those that write them and those that read them. Pure.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"

namespace dash::config {

struct NumberLimits {
  std::string_view key;
  std::int64_t min;
  std::int64_t max;
  // A Python dashboard has the key too, and takes any text for it: what its bundles carry is stored as it is.
  bool is_shared = false;
};

const std::vector<NumberLimits>& number_limits();
// Code::invalid, naming the key and what it takes, unless the text is a whole number within the key's limits.
Result<void> check_number(std::string_view key, std::string_view text);
// Returns the nearest number that the key may have: a value may be older than its limits.
std::int64_t limit_number(std::string_view key, std::int64_t value);

}  // namespace dash::config
