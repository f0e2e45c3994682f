#include "core/base/fields.hpp"

#include <limits>

#include "core/base/shape.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"

namespace dash {
namespace {

constexpr std::size_t kMaxTextBytes = 1024;

const Json* find(const Json& body, std::string_view name) {
  auto it = body.find(name);
  return it == body.end() || it->is_null() ? nullptr : &*it;
}

}  // namespace

Result<void> require_object(const Json& body) {
  if (body.is_object()) return {};
  return wrong_type("", "object");
}

Result<std::optional<std::string>> text_field(const Json& body, std::string_view name) {
  const auto* value = find(body, name);
  if (!value) return std::nullopt;
  if (!value->is_string()) return wrong_type(name, "string");
  return value->get<std::string>();
}

Result<std::string> aliased_text_field(const Json& body, const std::vector<std::string_view>& names) {
  std::string value;
  for (auto name : names) {
    auto text = TRY(text_field(body, name));
    if (!text) continue;
    auto typed = std::string(trim(*text));
    if (typed.size() > kMaxTextBytes) return wrong_value(name, "is too long");
    if (has_control_character(typed)) return wrong_value(name, "holds a control character");
    if (typed.empty()) continue;
    if (!value.empty() && value != typed)
      return wrong_value(name, fmt::format("differs from {}; give one of them", names.front()));
    value = typed;
  }
  return value;
}

Result<std::optional<std::int64_t>> integer_field(const Json& body, std::string_view name) {
  const auto* value = find(body, name);
  if (!value) return std::nullopt;
  if (!value->is_number_integer()) return wrong_type(name, "integer");
  // Beyond the signed range nlohmann stores an unsigned, which is larger than anything accepted.
  if (value->is_number_unsigned() &&
      value->get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return std::numeric_limits<std::int64_t>::max();
  return value->get<std::int64_t>();
}

Result<std::optional<bool>> flag_field(const Json& body, std::string_view name) {
  const auto* value = find(body, name);
  if (!value) return std::nullopt;
  if (!value->is_boolean()) return wrong_type(name, "boolean");
  return value->get<bool>();
}

}  // namespace dash
