#include "core/base/utf8.hpp"

#include <gtest/gtest.h>

namespace dash {

TEST(Utf8, WholeCharactersDropsOnlyACutOne) {
  EXPECT_EQ(whole_characters("ab\xe2\x82"), "ab");
  EXPECT_EQ(whole_characters("ab\xe2\x82\xac"), "ab\xe2\x82\xac");
  EXPECT_EQ(whole_characters("ab"), "ab");
  EXPECT_EQ(whole_characters("\xf0\x9f\x98"), "");
}

TEST(Utf8, RefusesOverlongFormsSurrogatesAndWhatLiesBeyondUnicode) {
  for (auto text : {"a", "ü", "日本", "\xf4\x8f\xbf\xbf", ""}) EXPECT_TRUE(is_utf8(text)) << text;
  for (auto text : {"\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80"})
    EXPECT_FALSE(is_utf8(text)) << text;
}

TEST(Utf8, ControlCharactersAreThoseOfBothRows) {
  for (auto text : {"a\n", "\x7f", "\xc2\x80", "\xc2\x9f"}) EXPECT_TRUE(has_control_character(text)) << text;
  for (auto text : {"a b", "\xc2\xa0", "ü"}) EXPECT_FALSE(has_control_character(text)) << text;
}

}  // namespace dash
