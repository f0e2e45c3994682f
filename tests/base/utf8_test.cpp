#include "core/base/utf8.hpp"

#include <gtest/gtest.h>

namespace dash {

TEST(Utf8, WholeCharactersDropsOnlyACutOne) {
  EXPECT_EQ(trim_partial_character("ab\xe2\x82"), "ab");
  EXPECT_EQ(trim_partial_character("ab\xe2\x82\xac"), "ab\xe2\x82\xac");
  EXPECT_EQ(trim_partial_character("ab"), "ab");
  EXPECT_EQ(trim_partial_character("\xf0\x9f\x98"), "");
}

TEST(Utf8, MakesTextThatAnyDatabaseStores) {
  using namespace std::string_view_literals;
  EXPECT_EQ(to_utf8("a\xff"
                    "b\0c\xc3\xbc"sv),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD"
            "c\xc3\xbc");
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

TEST(Utf8, FindsEveryCharacterThatTurnsTheDirectionOfWritingAndNoNeighbour) {
  for (auto text :
       {"\u202a", "a\u202bb", "\u202c", "\u202d", "x\u202e", "\u2066", "\u2067", "\u2068", "\u2069"})
    EXPECT_TRUE(has_bidi_control(text)) << text;
  for (auto text : {"", "a", "\u2029", "\u202f", "\u2065", "\u206a", "שלום", "日本", "\xe2\x80"})
    EXPECT_FALSE(has_bidi_control(text)) << text;
}

TEST(Utf8, EscapesWhatDrivesATerminalAndLeavesTextAlone) {
  EXPECT_EQ(escape_controls("a\u202eb\u2066c", ""), "a\\u202eb\\u2066c");
  EXPECT_EQ(escape_controls("a\u2028b", ""), "a\\u2028b");
  EXPECT_EQ(escape_controls("\033[2J\r\x07\x7f", ""), "\ufffd[2J\ufffd\ufffd\ufffd");
  EXPECT_EQ(escape_controls("\xc2\x9b"
                            "31m",
                            ""),
            "\ufffd31m");  // CSI in one character
  EXPECT_EQ(escape_controls("\x9b"
                            "31m",
                            ""),
            "\ufffd31m");
  EXPECT_EQ(escape_controls("a\tb\nc", "\t\n"), "a\tb\nc");
  EXPECT_EQ(escape_controls("ü שלום 日本 😀", ""), "ü שלום 日本 😀");
}

}  // namespace dash
