#include "core/base/shape.hpp"

#include "core/base/json.hpp"

namespace dash {
namespace {

Failure refused(OrderedJson where, std::string_view type, std::string_view message) {
  Error error{Code::validation, fmt::format("{}: {}", where.back().get<std::string>(), message), {}, {}, {}};
  OrderedJson entry{{"type", type}, {"loc", std::move(where)}, {"msg", message}, {"input", nullptr}};
  error.body = std::make_shared<const OrderedJson>(OrderedJson::array({std::move(entry)}));
  return Failure(std::move(error));
}

OrderedJson member(std::string_view name) { return OrderedJson::array({"body", name}); }

}  // namespace

Failure invalid_json(std::string_view message) {
  return refused(OrderedJson::array({"body"}), "json_invalid", message);
}

Failure missing_member(std::string_view name) { return refused(member(name), "missing", "Field required"); }

Failure wrong_type(std::string_view name, std::string_view type) {
  return refused(member(name), fmt::format("{}_type", type), fmt::format("Input should be a valid {}", type));
}

Failure wrong_value(std::string_view name, std::string_view message) {
  return refused(member(name), "value_error", message);
}

}  // namespace dash
