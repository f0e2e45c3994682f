#include "core/automation/yaml_tree.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash::automation {
namespace {

TEST(YamlTree, HasKeysAsProgramsSeeThem) {
  for (const auto* text :
       {"become: yes", "\"become\": yes", "'become' : yes", R"("bec\x6fme": "yes")", "{become: yes}",
        "? become\n: yes", "!!str become: !!str yes", "&k become: &v yes", "? >-\n  become\n: yes"}) {
    auto tree = must(YamlTree::parse(text));
    ASSERT_EQ(tree.documents().size(), 1u) << text;
    const auto& map = *tree.documents()[0];
    ASSERT_EQ(map.kind, YamlNode::Kind::map) << text;
    ASSERT_EQ(map.items.size(), 2u) << text;
    EXPECT_EQ(map.items[0]->text, "become") << text;
    EXPECT_EQ(map.items[1]->text, "yes") << text;
  }
}

TEST(YamlTree, SharesWhatAliasesName) {
  auto tree = must(YamlTree::parse("a: &x {k: v}\nb: *x\n"));
  const auto& map = *tree.documents()[0];
  EXPECT_EQ(map.items[1], map.items[3]);
  auto own = must(YamlTree::parse("&x [*x]"));
  EXPECT_EQ(own.documents()[0], own.documents()[0]->items[0]);
}

TEST(YamlTree, ReadsEveryDocumentAndNothing) {
  EXPECT_EQ(must(YamlTree::parse("a\n---\nb\n")).documents().size(), 2u);
  EXPECT_EQ(must(YamlTree::parse("")).documents().size(), 0u);
}

TEST(YamlTree, SaysWhereATextIsNone) {
  auto broken = YamlTree::parse("a: [1\nb: }");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, Code::invalid);
  EXPECT_NE(broken.error().message.find("line 2"), std::string::npos) << broken.error().message;
  EXPECT_FALSE(YamlTree::parse(std::string(100000, '[')));
  EXPECT_FALSE(YamlTree::parse("*nothing"));
}

}  // namespace
}  // namespace dash::automation
