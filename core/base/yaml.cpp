#include "core/base/yaml.hpp"

#include <yaml-cpp/yaml.h>

#include <charconv>

namespace dash {
namespace {

template <class Number>
std::optional<Number> read_number(const std::string& text) {
  Number out{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

OrderedJson scalar_to_json(const YAML::Node& node) {
  const auto& text = node.Scalar();
  if (node.Tag() == "!") return text;  // in quotes
  if (text.empty() || text == "~" || text == "null") return nullptr;
  if (text == "true" || text == "false") return text == "true";
  if (auto number = read_number<std::int64_t>(text)) return *number;
  if (auto number = read_number<double>(text); number && text.find_first_of("0123456789") != text.npos)
    return *number;
  return text;
}

OrderedJson to_json(const YAML::Node& node) {
  if (node.IsScalar()) return scalar_to_json(node);
  if (node.IsSequence()) {
    auto out = OrderedJson::array();
    for (const auto& item : node) out.push_back(to_json(item));
    return out;
  }
  if (!node.IsMap()) return nullptr;
  auto out = OrderedJson::object();
  for (const auto& member : node) out[member.first.Scalar()] = to_json(member.second);
  return out;
}

}  // namespace

Result<OrderedJson> parse_yaml(std::string_view text) {
  try {
    return to_json(YAML::Load(std::string(text)));
  } catch (const YAML::Exception& e) {
    return fail(Code::invalid, "{}", e.what());
  }
}

}  // namespace dash
