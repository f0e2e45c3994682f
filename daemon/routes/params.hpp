// Numbers in a query string.
#pragma once
#include <optional>
#include <string_view>

#include "daemon/http/http.hpp"

namespace dash::daemon {

// nullopt when absent or empty; Code::validation when it is no integer.
Result<std::optional<std::int64_t>> integer_query(const Request& request, std::string_view name);
// false when absent. Words as of a setting: true, 1, yes, on and their opposites, in any case.
Result<bool> flag_query(const Request& request, std::string_view name);
// `fallback` when absent; Code::validation outside of min to max too.
Result<std::int64_t> ranged_query(const Request& request, std::string_view name, std::int64_t fallback,
                                  std::int64_t min, std::int64_t max);

}  // namespace dash::daemon
