#include "core/storage/store/xml.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash::storage {
namespace {

TEST(Xml, ReadsElementsAttributesAndText) {
  auto root =
      must(parse_xml("<?xml version=\"1.0\"?><s:A xmlns:s='x' k='v'><B>1 &lt; 2</B><B>two</B><C/></s:A>"));
  EXPECT_EQ(root.name, "A");
  EXPECT_EQ(root.attribute("k"), "v");
  EXPECT_EQ(root.text_of("B"), "1 < 2");
  EXPECT_EQ(root.children.size(), 3u);
  EXPECT_EQ(root.text_of("absent"), "");
}

TEST(Xml, KeepsATextThatIsOnlySpace) { EXPECT_EQ(must(parse_xml("<A><K> </K></A>")).text_of("K"), " "); }

TEST(Xml, RefusesWhatIsNone) {
  for (std::string_view text : {"", "OK", "<A><B></A>", "<A", "{\"a\":1}"})
    EXPECT_EQ(parse_xml(text).error().code, Code::upstream) << text;
}

TEST(Xml, NeverExpandsEntities) {
  auto root = parse_xml("<!DOCTYPE a [<!ENTITY b \"boom\">]><A>&b;</A>");
  ASSERT_TRUE(root);
  EXPECT_EQ(root->text, "&b;");
}

TEST(Xml, RefusesADepthNobodyNeeds) {
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += "<a>";
  for (int i = 0; i < 40; ++i) deep += "</a>";
  EXPECT_EQ(parse_xml(deep).error().code, Code::upstream);
}

TEST(Xml, WritesWhatItReads) {
  XmlElement root{"Root", "", {{"id", "a\"b"}}, {{"Key", "a<b & c", {}, {}}}};
  auto text = write_xml(root);
  EXPECT_TRUE(text.starts_with("<?xml version=\"1.0\""));
  auto again = must(parse_xml(text));
  EXPECT_EQ(again.attribute("id"), "a\"b");
  EXPECT_EQ(again.text_of("Key"), "a<b & c");
}

}  // namespace
}  // namespace dash::storage
