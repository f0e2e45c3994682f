// Errors in the shape of a request body, where core reads the body itself: Code::validation (422) with
//   {"detail": [{type, loc, msg, input}]}
// `input` is null, because a value may be a secret.
#pragma once
#include <string_view>

#include "core/base/error.hpp"

namespace dash {

// The body as a whole is not the promised JSON. `at` is the offset of the fault, where it is known.
Failure invalid_json(std::string_view why, std::size_t at = 0);
Failure missing_member(std::string_view name, std::string_view message = "Field required");
// `type`: "string", "integer", "boolean", "array" or "object".
Failure wrong_type(std::string_view name, std::string_view type);
// The value has the right type and is impossible. `message` is a sentence.
Failure wrong_value(std::string_view name, std::string_view message);

}  // namespace dash
