// Numbers in a query string.
#pragma once
#include <optional>
#include <string_view>

#include "daemon/http/http.hpp"

namespace dash::daemon {

// Returns nullopt when absent or empty. Code::validation when it is no integer.
Result<std::optional<std::int64_t>> integer_query(const Request& request, std::string_view name);
// Returns false when absent. Accepts the words of a setting: true, 1, yes, on and their opposites, in any
// case.
Result<bool> flag_query(const Request& request, std::string_view name);
// Returns `fallback` when absent. Code::validation also outside of min to max.
Result<std::int64_t> ranged_query(const Request& request, std::string_view name, std::int64_t fallback,
                                  std::int64_t min, std::int64_t max);

}  // namespace dash::daemon
