// XML of the stores (S3, Azure Blob), and the only file that uses pugixml. A document becomes a small tree of
// values; entities of a DTD are never expanded. Called by the codecs of those stores.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.hpp"

namespace dash::storage {

struct XmlElement {
  std::string name;  // without a namespace prefix
  std::string text;  // of the element itself, white space kept
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<XmlElement> children;

  // Returns the first child of that name, or nullptr.
  const XmlElement* child(std::string_view child_name) const;
  // Returns the text of the first child of that name, "" when there is none.
  std::string_view text_of(std::string_view child_name) const;
  std::string_view attribute(std::string_view attribute_name) const;
};

inline constexpr int kMaxXmlDepth = 32;

// Returns the root element. Code::upstream for what is no XML, or nested deeper than kMaxXmlDepth.
Result<XmlElement> parse_xml(std::string_view text);

// Writes an XML declaration, adds no white space, and escapes reserved characters.
std::string write_xml(const XmlElement& root);

}  // namespace dash::storage
