#include "core/base/shape.hpp"

#include "core/base/json.hpp"

namespace dash {
namespace {

// `entry`: the one member of the list that a 422 answers.
Failure one_entry(std::string message, OrderedJson entry) {
  auto body = OrderedJson::array({std::move(entry)});
  return Failure(Error{.code = Code::validation,
                       .message = std::move(message),
                       .body = std::make_shared<const OrderedJson>(std::move(body))});
}

Failure validation_failure(OrderedJson location, std::string_view type, std::string_view message) {
  auto text = fmt::format("{}: {}", location.back().get<std::string>(), message);
  return one_entry(std::move(text),
                   {{"type", type}, {"loc", std::move(location)}, {"msg", message}, {"input", nullptr}});
}

OrderedJson body_location(std::string_view name) { return OrderedJson::array({"body", name}); }

}  // namespace

Failure invalid_json(std::string_view why, std::size_t at) {
  auto message = fmt::format("JSON decode error: {}", why);
  return one_entry(
      "body: " + message,
      {{"type", "json_invalid"}, {"loc", {"body", at}}, {"msg", message}, {"input", OrderedJson::object()}});
}

Failure missing_member(std::string_view name, std::string_view message) {
  return validation_failure(body_location(name), "missing", message);
}

Failure wrong_type(std::string_view name, std::string_view type) {
  // The texts that clients of the API expect: those of pydantic, which the deployed dashboards use.
  if (type == "object")
    return validation_failure(body_location(name), "dict_type", "Input should be a valid dictionary");
  if (type == "array")
    return validation_failure(body_location(name), "list_type", "Input should be a valid list");
  if (type == "integer")
    return validation_failure(body_location(name), "int_type", "Input should be a valid integer");
  if (type == "boolean")
    return validation_failure(body_location(name), "bool_type", "Input should be a valid boolean");
  return validation_failure(body_location(name), fmt::format("{}_type", type),
                            fmt::format("Input should be a valid {}", type));
}

Failure wrong_value(std::string_view name, std::string_view message) {
  return validation_failure(body_location(name), "value_error", message);
}

}  // namespace dash
