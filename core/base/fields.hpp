// Reads members of request bodies (deploys, change windows) with the promised type, and fails with
// Code::validation when they have another. Absent and null are the same.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.hpp"

namespace dash {

Result<void> require_object(const Json& body);
Result<std::optional<std::string>> text_field(const Json& body, std::string_view name);
Result<std::optional<std::int64_t>> integer_field(const Json& body, std::string_view name);
// Returns the trimmed text under one of several names; empty when absent or blank. Two names with different
// values are a mistake that this program must not decide: the gate could evaluate one and the job build the
// other.
Result<std::string> aliased_text_field(const Json& body, const std::vector<std::string_view>& names);
Result<std::optional<bool>> flag_field(const Json& body, std::string_view name);

}  // namespace dash
