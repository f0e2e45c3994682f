#include "core/base/shell_word.hpp"

#include <gtest/gtest.h>

namespace dash {
namespace {

TEST(ShellWord, QuotesForTheShellOnTheOtherSide) {
  EXPECT_EQ(shell_quote("plain"), "'plain'");
  EXPECT_EQ(shell_quote("it's $HOME; rm"), "'it'\\''s $HOME; rm'");
}

TEST(ShellWord, LeavesPlainWordsToPeopleAsTheyAre) {
  EXPECT_EQ(shell_word("https://h.example:8443/x"), "https://h.example:8443/x");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace dash
