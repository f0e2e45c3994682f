#include "core/base/yaml.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash {
namespace {

std::string as_json(std::string_view yaml) { return dump_json(must(parse_yaml(yaml))); }

TEST(Yaml, KeepsTypesAndOrder) {
  EXPECT_EQ(as_json("b: 1\na: [true, null, ~, 2.5, text, -3]\n"),
            R"({"b":1,"a":[true,null,null,2.5,"text",-3]})");
}

TEST(Yaml, TakesQuotedScalarsForText) {
  EXPECT_EQ(as_json("\"200\": {type: [string, \"null\"], on: \"on\"}\nv: '1'\n"),
            R"({"200":{"type":["string","null"],"on":"on"},"v":"1"})");
}

TEST(Yaml, CopiesWhatAnAliasNames) {
  EXPECT_EQ(as_json("one: &x {a: 1}\ntwo: *x\n"), R"({"one":{"a":1},"two":{"a":1}})");
}

TEST(Yaml, TakesWordsThatBeginLikeNumbersForText) {
  EXPECT_EQ(as_json("[1.5.3, 3 days, 0x, inf, nan, 2026-07-03]"),
            R"(["1.5.3","3 days","0x","inf","nan","2026-07-03"])");
}

TEST(Yaml, NamesTheLineOfAFault) {
  auto broken = parse_yaml("a: 1\nb: [1,\n");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, Code::invalid);
  EXPECT_NE(broken.error().message.find("line"), std::string::npos);
}

}  // namespace
}  // namespace dash
