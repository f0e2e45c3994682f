#include "daemon/http/api_description.hpp"

#include <stdexcept>

#include "core/base/embedded.hpp"
#include "core/base/yaml.hpp"

namespace dash::daemon {
namespace {

OrderedJson load() {
  auto text = embedded("daemon/openapi.yaml");
  auto document = text ? parse_yaml(*text) : Result<OrderedJson>(fail(Code::internal, "it is not embedded"));
  if (!document) throw std::logic_error("daemon/openapi.yaml: " + document.error().message);
  return *std::move(document);
}

}  // namespace

const OrderedJson& api_description() {
  static const OrderedJson document = load();
  return document;
}

const std::string& api_description_text() {
  static const std::string text = dump_json(api_description());
  return text;
}

const OrderedJson& resolve(const OrderedJson& node) {
  if (!node.is_object() || !node.contains("$ref")) return node;
  auto reference = node.at("$ref").get<std::string>();
  return resolve(api_description().at(OrderedJson::json_pointer(reference.substr(1))));
}

}  // namespace dash::daemon
