#include "core/storage/store/xml.hpp"

#include <pugixml.hpp>

namespace dash::storage {
namespace {

std::string local_name(std::string_view name) {
  auto colon = name.rfind(':');
  return std::string(colon == name.npos ? name : name.substr(colon + 1));
}

Result<XmlElement> to_tree(const pugi::xml_node& node, int depth) {
  if (depth > kMaxXmlDepth) return fail(Code::upstream, "an XML answer is nested too deep");
  XmlElement element{local_name(node.name()), node.text().get(), {}, {}};
  for (const auto& attribute : node.attributes())
    element.attributes.emplace_back(attribute.name(), attribute.value());
  for (const auto& child : node.children())
    if (child.type() == pugi::node_element) element.children.push_back(TRY(to_tree(child, depth + 1)));
  return element;
}

void append(pugi::xml_node parent, const XmlElement& element) {
  auto node = parent.append_child(element.name.c_str());
  for (const auto& [name, value] : element.attributes)
    node.append_attribute(name.c_str()).set_value(value.c_str());
  if (!element.text.empty()) node.text().set(element.text.c_str());
  for (const auto& child : element.children) append(node, child);
}

struct StringWriter final : pugi::xml_writer {
  void write(const void* data, std::size_t size) override {
    out.append(static_cast<const char*>(data), size);
  }
  std::string out;
};

}  // namespace

const XmlElement* XmlElement::child(std::string_view child_name) const {
  for (const auto& element : children)
    if (element.name == child_name) return &element;
  return nullptr;
}

std::string_view XmlElement::text_of(std::string_view child_name) const {
  const auto* found = child(child_name);
  return found ? std::string_view(found->text) : std::string_view();
}

std::string_view XmlElement::attribute(std::string_view attribute_name) const {
  for (const auto& [attribute_key, value] : attributes)
    if (attribute_key == attribute_name) return value;
  return {};
}

Result<XmlElement> parse_xml(std::string_view text) {
  pugi::xml_document document;
  // ws_pcdata_single: a key may be one space, which pugixml would drop otherwise.
  constexpr auto kFlags = pugi::parse_default | pugi::parse_ws_pcdata_single;
  auto parsed = document.load_buffer(text.data(), text.size(), kFlags, pugi::encoding_utf8);
  if (!parsed || !document.document_element())
    return fail(Code::upstream, "an answer that should be XML is none (at byte {})", parsed.offset);
  return to_tree(document.document_element(), 1);
}

std::string write_xml(const XmlElement& root) {
  pugi::xml_document document;
  append(document, root);
  StringWriter writer;
  document.save(writer, "", pugi::format_raw, pugi::encoding_utf8);
  return std::move(writer.out);
}

}  // namespace dash::storage
