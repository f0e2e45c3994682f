#include "core/base/lines.hpp"

#include <gtest/gtest.h>

namespace dash {
namespace {

using Lines = std::vector<std::string_view>;

TEST(Lines, EndWithANewlineOrWithTheText) {
  EXPECT_EQ(lines_of(""), Lines());
  EXPECT_EQ(lines_of("a"), Lines({"a"}));
  EXPECT_EQ(lines_of("a\n"), Lines({"a"}));
  EXPECT_EQ(lines_of("a\n\nb"), Lines({"a", "", "b"}));
  EXPECT_EQ(lines_of("\n"), Lines({""}));
}

TEST(Lines, AreTakenOneByOne) {
  std::string_view text = "a\nb";
  EXPECT_EQ(take_line(text), "a");
  EXPECT_EQ(take_line(text), "b");
  EXPECT_TRUE(text.empty());
  EXPECT_EQ(take_line(text), "");
}

}  // namespace
}  // namespace dash
