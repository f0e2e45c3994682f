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

}  // namespace dash
