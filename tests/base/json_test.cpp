#include "core/base/json.hpp"

#include <gtest/gtest.h>

namespace dash {

TEST(ParseJson, RefusesNestingDeeperThanSixtyFour) {
  auto nested = [](int n) {
    return std::string(static_cast<std::size_t>(n), '[') + std::string(static_cast<std::size_t>(n), ']');
  };
  EXPECT_TRUE(parse_json(nested(64)));
  EXPECT_FALSE(parse_json(nested(65)));
  EXPECT_FALSE(parse_json(nested(100000)));
}

TEST(ParseJson, RefusesAMemberThatStandsTwice) {
  auto twice = parse_json(R"({"a":1,"b":{"a":1},"a":2})");
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().message.find("'a' twice"), std::string::npos);
  EXPECT_TRUE(parse_json(R"({"a":{"a":1},"b":[{"a":1},{"a":2}]})"));
}

TEST(ParseJson, NamesTheByteAndNotTheContent) {
  auto bad = parse_json("{\"password\": hunter2}");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message.find("hunter2"), std::string::npos);
  EXPECT_FALSE(parse_json("{\"a\":\"\xff\"}"));
  EXPECT_FALSE(parse_json(""));
  EXPECT_FALSE(parse_json("{} {}"));
}

TEST(ParseJson, ANulIsNoEnd) {
  using namespace std::string_view_literals;
  for (auto text : {"{}\0"sv, "{}\0{\"hidden\":1}"sv, "\0{}"sv, "{\"a\":\"\0\"}"sv})
    EXPECT_FALSE(parse_json(text)) << text.size();
}

TEST(ParseJson, PassesTheMembersOfAMemberOn) {
  std::string told;
  auto take = [&](std::string_view section, const std::string& name, const Json& value) {
    if (section != "many") return false;
    told += fmt::format("{}={} ", name, dump_json(value));
    return name != "kept";
  };
  auto rest =
      parse_json(R"({"many":{"b":{"c":[1]},"a":"x","kept":2},"one":{"a":3},"list":[{"a":4}],"n":5})", take);
  ASSERT_TRUE(rest);
  EXPECT_EQ(told, R"(b={"c":[1]} a="x" kept=2 )");
  EXPECT_EQ(dump_json(*rest), R"({"list":[{"a":4}],"many":{"kept":2},"n":5,"one":{"a":3}})");
}

TEST(ParseJson, RefusesAMemberThatStandsTwiceAlsoWhereItIsPassedOn) {
  auto take = [](std::string_view, const std::string&, const Json&) { return true; };
  auto twice = parse_json(R"({"many":{"a":1,"b":2,"a":1}})", take);
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().message.find("'a' twice"), std::string::npos);
  EXPECT_FALSE(parse_json(R"({"many":{"a":1},"many":{"b":1}})", take));
}

TEST(AppendJson, WritesWhatDumpJsonWrites) {
  for (std::string text :
       {"", "plain", "a \"quote\"", "back\\slash", "line\n", "\x7f", "caf\u00e9", "cut \xc3"}) {
    std::string out = "x";
    append_json(out, text);
    EXPECT_EQ(out, "x" + dump_json(Json(text)));
  }
}

TEST(DumpStrings, WritesWhatDumpJsonWrites) {
  using Strings = std::map<std::string, std::string>;
  const Strings none, some{{"", ""}, {"quote \"", "caf\u00e9"}, {"z", "cut \xc3"}};
  for (const auto& members : {none, some}) EXPECT_EQ(dump_strings(members), dump_json(Json(members)));
}

}  // namespace dash
