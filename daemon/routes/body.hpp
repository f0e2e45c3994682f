// Reads small request bodies and reports errors in them in the shape that clients of the API expect: 422 with
//   {"detail": [{"type", "loc", "msg", "input"}]}
// as FastAPI services do. Used by the route files.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "daemon/http/http.hpp"

namespace dash::daemon {

// One error in a body: its path (without the leading "body") and its text.
struct FieldError {
  std::string type;  // "missing", "string_type", "int_type", "bool_type", "value_error", …
  std::vector<std::string> where;
  std::string message;
  Json input = nullptr;
};

// Code::validation; its body lists the problems.
Error validation_error(const std::vector<FieldError>& problems, std::string_view in = "body");

// Returns the body as a JSON object. Code::validation when it is not JSON or not an object.
Result<Json> json_object(const Request& request);
// Returns the body as JSON of any kind.
Result<Json> json_body(const Request& request);
// Reads application/x-www-form-urlencoded. Code::validation for a bad escape.
Result<Fields> form_body(const Request& request);

// Return members of an object by type. An absent or null optional member is nullopt; a wrong type is
// Code::validation.
Result<std::string> required_string(const Json& object, std::string_view key);
Result<std::optional<std::string>> optional_string(const Json& object, std::string_view key);
Result<std::optional<bool>> optional_bool(const Json& object, std::string_view key);
Result<std::optional<std::int64_t>> optional_int(const Json& object, std::string_view key);
Result<std::int64_t> required_int(const Json& object, std::string_view key);

}  // namespace dash::daemon
