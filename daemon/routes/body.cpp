#include "daemon/routes/body.hpp"

#include <charconv>

#include "core/base/shape.hpp"
#include "daemon/http/target.hpp"

namespace dash::daemon {
namespace {

// Scalars are returned to the client, documents are not, so that a refusal stays small.
Json echoed_input(const Json& input) { return input.is_structured() ? Json(nullptr) : input; }

Failure invalid_member(std::string type, std::string_view key, std::string message, const Json& input) {
  return Failure(
      validation_error({{std::move(type), {std::string(key)}, std::move(message), echoed_input(input)}}));
}

const Json* find_member(const Json& object, std::string_view key) {
  auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

// Returns the offset of "… at byte 5", counted from 0 as in the deployed dashboards.
std::size_t offset_in(std::string_view message) {
  constexpr std::string_view kByte = "byte ";
  std::size_t byte = 1;
  if (auto at = message.find(kByte); at != message.npos)
    std::from_chars(message.data() + at + kByte.size(), message.data() + message.size(), byte);
  return byte - 1;
}

Failure missing(std::string_view key) { return invalid_member("missing", key, "Field required", nullptr); }

}  // namespace

Error validation_error(const std::vector<FieldError>& problems, std::string_view in) {
  auto body = std::make_shared<OrderedJson>(OrderedJson::array());
  std::string text;
  for (const auto& problem : problems) {
    OrderedJson where = OrderedJson::array({in});
    std::string path(in);
    for (const auto& step : problem.where) {
      where.push_back(step);
      path += "." + step;
    }
    body->push_back(OrderedJson{{"type", problem.type},
                                {"loc", where},
                                {"msg", problem.message},
                                {"input", OrderedJson(problem.input)}});
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", path, problem.message);
  }
  return {.code = Code::validation, .message = std::move(text), .body = std::move(body)};
}

Result<Json> json_body(const Request& request) {
  auto document = parse_json(request.body);
  if (!document) return invalid_json(document.error().message, offset_in(document.error().message));
  return document;
}

Result<Json> json_object(const Request& request) {
  auto document = TRY(json_body(request));
  if (!document.is_object())
    return Failure(validation_error(
        {{"model_attributes_type", {}, "Input should be a JSON object", echoed_input(document)}}));
  return document;
}

Result<Fields> form_body(const Request& request) {
  auto fields = parse_fields(request.body);
  if (!fields)
    return Failure(validation_error(
        {{"form_invalid", {}, "Body should be application/x-www-form-urlencoded", nullptr}}));
  return *fields;
}

Result<std::optional<std::string>> optional_string(const Json& object, std::string_view key) {
  const auto* value = find_member(object, key);
  if (!value) return std::nullopt;
  if (!value->is_string())
    return invalid_member("string_type", key, "Input should be a valid string", *value);
  return value->get<std::string>();
}

Result<std::string> required_string(const Json& object, std::string_view key) {
  auto value = TRY(optional_string(object, key));
  if (!value) return missing(key);
  return *value;
}

Result<std::optional<bool>> optional_bool(const Json& object, std::string_view key) {
  const auto* value = find_member(object, key);
  if (!value) return std::nullopt;
  if (!value->is_boolean())
    return invalid_member("bool_type", key, "Input should be a valid boolean", *value);
  return value->get<bool>();
}

Result<std::optional<std::int64_t>> optional_int(const Json& object, std::string_view key) {
  const auto* value = find_member(object, key);
  if (!value) return std::nullopt;
  bool fits = value->is_number_integer() &&
              !(value->is_number_unsigned() && value->get<std::uint64_t>() > std::uint64_t{INT64_MAX});
  if (!fits) return invalid_member("int_type", key, "Input should be a valid integer", *value);
  return value->get<std::int64_t>();
}

Result<std::int64_t> required_int(const Json& object, std::string_view key) {
  auto value = TRY(optional_int(object, key));
  if (!value) return missing(key);
  return *value;
}

}  // namespace dash::daemon
