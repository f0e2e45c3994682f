#include "core/deploy/hcl.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/must.hpp"

namespace dash::deploy {
namespace {

using Names = std::set<std::string>;

Names names(const Result<Variables>& found) {
  Names out;
  for (const auto& [name, variable] : must(found)) out.insert(name);
  return out;
}

TEST(HclVariables, NamesTheTopLevelBlocks) {
  EXPECT_EQ(names(hcl_variables("variable \"region\" {}\nvariable name { type = string }\n"
                                "variable \"a-b\" {\n  default = { x = [1, { y = 2 }] }\n}\n")),
            (Names{"region", "name", "a-b"}));
  EXPECT_EQ(names(hcl_variables("")), Names());
  EXPECT_EQ(names(hcl_variables("\xEF\xBB\xBFvariable \"x\" {\r\n}\r\n")), Names{"x"});
}

TEST(HclVariables, TellWhetherTheyHaveADefaultAndAreSensitive) {
  auto found = must(hcl_variables(
      "variable \"a\" { default = null }\nvariable \"b\" {\n  sensitive = true\n  type = string\n}\n"
      "variable \"c\" {\n  description = \"default = 1\"\n  validation {\n    default = 1\n  }\n"
      "  sensitive = false\n}\nvariable \"d\" { sensitive = true }\n"));
  EXPECT_EQ(found, (Variables{{"a", {true, false}}, {"b", {false, true}}, {"c", {}}, {"d", {false, true}}}));
  EXPECT_EQ(must(json_variables(R"({"variable": {"a": {"default": 1}, "b": {"sensitive": true}}})")),
            (Variables{{"a", {true, false}}, {"b", {false, true}}}));
}

TEST(HclVariables, IgnoresWhatOnlyLooksLikeABlock) {
  for (auto text : {
           "# variable \"x\" {}\n",
           "// variable \"x\" {}\n",
           "/* variable \"x\" {}\n*/\n",
           "locals {\n  variable \"x\" {}\n}\n",
           "locals {\n  a = \"variable \\\"x\\\" {}\"\n}\n",
           "locals {\n  a = <<EOT\nvariable \"x\" {}\n}\nEOT\n}\n",
           "locals {\n  a = <<-EOT\n    variable \"x\" {}\n    ${var.y}\n    EOT\n}\n",
           "locals {\n  a = \"${join(\"}\", [for k in {b = \"c\"} : \"${k} variable {\"])}\"\n}\n",
           "locals {\n  a = \"$${ not a template\"\n}\n",
           "output \"variable\" {\n  value = 1\n}\n",
           "variable \"x\"\n{\n}\n",
           "resource \"variable\" \"x\" {\n}\n",
       })
    EXPECT_EQ(names(hcl_variables(text)), Names()) << text;
}

TEST(HclVariables, FindsABlockBehindEachOfThem) {
  auto text =
      "locals {\n  a = \"x ${upper(\"{\")} y\"\n  b = <<EOT\n\" { ${\nEOT\n}\n/* { */ variable \"z\" {}\n";
  EXPECT_EQ(names(hcl_variables(text)), Names{"z"});
}

TEST(HclVariables, RefusesATextThatDoesNotEnd) {
  for (auto text :
       {"variable \"x\" {", "a = \"b", "a = \"b\n\"", "/* x", "a = <<EOT\nb\n", "}", "a = \"${b\""}) {
    auto found = hcl_variables(text);
    ASSERT_FALSE(found) << text;
    EXPECT_NE(found.error().message.find("line "), std::string::npos) << found.error().message;
  }
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "\"${";
  EXPECT_FALSE(hcl_variables(deep));
}

TEST(JsonVariables, TakesAnObjectOrAListOfThem) {
  EXPECT_EQ(names(json_variables(R"({"variable": {"a": {}, "b": {}}})")), (Names{"a", "b"}));
  EXPECT_EQ(names(json_variables(R"({"variable": [{"a": {}}, {"b": {}}]})")), (Names{"a", "b"}));
  EXPECT_EQ(names(json_variables("{}")), Names());
  EXPECT_FALSE(json_variables("[]"));
  EXPECT_FALSE(json_variables(R"({"variable": 1})"));
}

}  // namespace
}  // namespace dash::deploy
