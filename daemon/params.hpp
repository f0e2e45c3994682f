// Numbers in a query string.
#pragma once
#include <optional>
#include <string_view>

#include "daemon/http.hpp"

namespace dash::daemon {

// nullopt when absent or empty; Code::validation when it is no integer.
Result<std::optional<std::int64_t>> integer_query(const Request& request, std::string_view name);

}  // namespace dash::daemon
