#include "core/base/shape.hpp"

namespace dash {
namespace {

Failure refused(OrderedJson loc, std::string_view type, std::string_view message, OrderedJson input) {
  Error error{Code::validation, fmt::format("{}: {}", loc.back().get<std::string>(), message), {}, {}, {}};
  auto entry =
      OrderedJson{{"type", type}, {"loc", std::move(loc)}, {"msg", message}, {"input", std::move(input)}};
  error.body = std::make_shared<const OrderedJson>(OrderedJson::array({std::move(entry)}));
  return Failure(std::move(error));
}

OrderedJson at(std::string_view name) { return OrderedJson::array({"body", name}); }

const Json* find(const Json& body, std::string_view name) {
  auto it = body.find(name);
  return it == body.end() || it->is_null() ? nullptr : &*it;
}

}  // namespace

Failure missing_member(std::string_view name) {
  return refused(at(name), "missing", "Field required", nullptr);
}

Failure wrong_type(std::string_view name, std::string_view type) {
  return refused(at(name), fmt::format("{}_type", type), fmt::format("Input should be a valid {}", type),
                 nullptr);
}

Failure wrong_value(std::string_view name, std::string_view message) {
  return refused(at(name), "value_error", message, nullptr);
}

Result<void> require_object(const Json& body) {
  if (body.is_object()) return {};
  return refused(OrderedJson::array({"body"}), "object_type", "Input should be a JSON object", nullptr);
}

Result<std::string> text_member(const Json& body, std::string_view name) {
  TRY(require_object(body));
  auto it = body.find(name);
  if (it == body.end()) return missing_member(name);
  if (!it->is_string()) return wrong_type(name, "string");
  return it->get<std::string>();
}

Result<std::int64_t> integer_member(const Json& body, std::string_view name) {
  TRY(require_object(body));
  auto it = body.find(name);
  if (it == body.end()) return missing_member(name);
  if (!it->is_number_integer()) return wrong_type(name, "integer");
  // Beyond the signed range nlohmann keeps an unsigned: larger than anything that we accept anyway.
  if (it->is_number_unsigned() && it->get<std::uint64_t>() > std::uint64_t{INT64_MAX}) return INT64_MAX;
  return it->get<std::int64_t>();
}

Result<std::optional<std::string>> optional_text(const Json& body, std::string_view name) {
  TRY(require_object(body));
  auto* value = find(body, name);
  if (!value) return std::nullopt;
  if (!value->is_string()) return wrong_type(name, "string");
  return value->get<std::string>();
}

Result<bool> optional_flag(const Json& body, std::string_view name, bool fallback) {
  TRY(require_object(body));
  auto* value = find(body, name);
  if (!value) return fallback;
  if (!value->is_boolean()) return wrong_type(name, "boolean");
  return value->get<bool>();
}

}  // namespace dash
