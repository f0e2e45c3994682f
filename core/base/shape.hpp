// Members of a request body, read with the promised type. A body of another shape is Code::validation (422)
// with the body
// {"detail":[{type, loc, msg, input}]} of DESIGN §4. `input` is null: a value may be a secret.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/json.hpp"

namespace dash {

Failure missing_member(std::string_view name);
// `type`: "string", "integer", "boolean", "array" or "object".
Failure wrong_type(std::string_view name, std::string_view type);
// The right type and a value that cannot be meant; `message` is a sentence.
Failure wrong_value(std::string_view name, std::string_view message);

// An object, or Code::validation.
Result<void> require_object(const Json& body);
Result<std::string> text_member(const Json& body, std::string_view name);
Result<std::int64_t> integer_member(const Json& body, std::string_view name);
// Absent and null both give nullopt or `fallback`.
Result<std::optional<std::string>> optional_text(const Json& body, std::string_view name);
Result<bool> optional_flag(const Json& body, std::string_view name, bool fallback);

}  // namespace dash
