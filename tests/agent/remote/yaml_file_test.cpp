#include "core/agent/remote/yaml_file.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash::agent {
namespace {

std::string error_of(std::string_view text) {
  auto parsed = parse_yaml(text, "f.yaml");
  return parsed ? "" : parsed.error().message;
}

TEST(YamlFile, NamesFileAndLineOfWhatItRefuses) {
  EXPECT_EQ(error_of("a: 1\nb: 2\na: 3\n"),
            "f.yaml:3: the key 'a' occurs twice; it stands in line 1 already");
  EXPECT_TRUE(error_of("x:\n  - {k: 1, k: 2}\n").starts_with("f.yaml:2:"));
  EXPECT_TRUE(error_of("a: [\n").starts_with("f.yaml:"));
  EXPECT_NE(error_of("a: &x 1\nb: *x\n").find(":2: aliases"), std::string::npos);
  EXPECT_NE(error_of("a: !!python/object x\n").find("the tag"), std::string::npos);
  EXPECT_NE(error_of("a: 1\n---\nb: 2\n").find("second document"), std::string::npos);
  EXPECT_NE(error_of("? [a]\n: 1\n").find("a key is a word"), std::string::npos);
  EXPECT_NE(error_of(std::string(200, '[')).size(), 0u);
  EXPECT_NE(error_of("a: " + std::string(40, '[') + std::string(40, ']')).find("nested"), std::string::npos);
}

TEST(YamlFile, KeepsQuotesApartFromWords) {
  auto document = must(parse_yaml("a: true\nb: \"true\"\nc: yes\nd: 1\n", "f"));
  YamlView root("f", document);
  EXPECT_TRUE(must(root.find("a")->flag("a")));
  EXPECT_TRUE(must(root.find("c")->flag("c")));
  EXPECT_EQ(root.find("b")->flag("'b'").error().message, "f:2: 'b' must be an unquoted true or false");
  EXPECT_FALSE(root.find("d")->flag("d"));
  EXPECT_EQ(root.find("b")->flag("b").error().code, Code::usage);
}

TEST(YamlFile, ReadsNumbersTextsAndLists) {
  auto document = must(parse_yaml("n: 5\nq: '6'\nt: word\nl: [1, x]\nempty:\n", "f"));
  YamlView root("f", document);
  EXPECT_EQ(must(root.find("n")->number("n", 1, 9)), 5);
  EXPECT_EQ(must(root.find("q")->number("q", 1, 9)), 6);
  EXPECT_FALSE(root.find("n")->number("n", 6, 9));
  EXPECT_FALSE(root.find("t")->number("t", 1, 9));
  EXPECT_EQ(must(root.find("t")->text("t")), "word");
  EXPECT_FALSE(root.find("empty")->text("empty"));
  EXPECT_EQ(must(root.find("l")->list("l")).size(), 2u);
  EXPECT_FALSE(root.find("t")->list("t"));
  EXPECT_FALSE(root.find("absent"));
}

TEST(YamlFile, RefusesKeysThatNobodyReads) {
  auto document = must(parse_yaml("a: 1\nb: 2\n", "f"));
  constexpr std::array<std::string_view, 1> known{"a"};
  EXPECT_EQ(YamlView("f", document).check_keys("the file", known).error().message,
            "f:2: the file has no key 'b'; it has a");
  auto list = must(parse_yaml("- a\n", "f"));
  EXPECT_FALSE(YamlView("f", list).check_keys("the file", known));
  auto nothing = must(parse_yaml("", "f"));
  EXPECT_FALSE(YamlView("f", nothing).check_keys("the file", known));
}

TEST(YamlFile, RefusesAFileBeyondItsBound) {
  EXPECT_FALSE(parse_yaml(std::string(kMaxYamlBytes + 1, ' '), "f"));
}

}  // namespace
}  // namespace dash::agent
