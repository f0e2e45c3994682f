#include "core/base/shape.hpp"

#include "core/base/json.hpp"

namespace dash {
namespace {

Failure refused(std::string_view name, std::string_view type, std::string_view message) {
  Error error{Code::validation, fmt::format("{}: {}", name, message), {}, {}, {}};
  OrderedJson entry{{"type", type}, {"loc", {"body", name}}, {"msg", message}, {"input", nullptr}};
  error.body = std::make_shared<const OrderedJson>(OrderedJson::array({std::move(entry)}));
  return Failure(std::move(error));
}

}  // namespace

Failure missing_member(std::string_view name) { return refused(name, "missing", "Field required"); }

Failure wrong_type(std::string_view name, std::string_view type) {
  return refused(name, fmt::format("{}_type", type), fmt::format("Input should be a valid {}", type));
}

Failure wrong_value(std::string_view name, std::string_view message) {
  return refused(name, "value_error", message);
}

}  // namespace dash
