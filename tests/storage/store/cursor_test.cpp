#include "core/storage/store/cursor.hpp"

#include <gtest/gtest.h>

namespace dash::storage {
namespace {

TEST(AdvanceCursor, MovesOnAndEnds) {
  std::string cursor;
  EXPECT_TRUE(advance_cursor(cursor, "a"));
  EXPECT_EQ(cursor, "a");
  EXPECT_TRUE(advance_cursor(cursor, "b"));
  EXPECT_TRUE(advance_cursor(cursor, ""));
  EXPECT_EQ(cursor, "");
}

TEST(AdvanceCursor, RefusesThePageThatWasJustRead) {
  std::string cursor = "a";
  auto moved = advance_cursor(cursor, "a");
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code, Code::upstream);
}

}  // namespace
}  // namespace dash::storage
