// Members of the bodies that this room resolves itself (deploys, change windows), read with the promised
// type; Code::validation when they have another. Absent and null are the same.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "core/base/json.hpp"

namespace dash::jobs {

Result<void> require_object(const Json& body);
Result<std::optional<std::string>> text_field(const Json& body, std::string_view name);
Result<std::optional<std::int64_t>> integer_field(const Json& body, std::string_view name);
Result<std::optional<bool>> flag_field(const Json& body, std::string_view name);

}  // namespace dash::jobs
