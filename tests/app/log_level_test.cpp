#include "core/app/log_level.hpp"

#include <gtest/gtest.h>

namespace dash::app {
namespace {

TEST(LogLevelOf, ReadsTheFourWordsInAnyCase) {
  EXPECT_EQ(parse_log_level("debug"), log::Level::debug);
  EXPECT_EQ(parse_log_level(" INFO "), log::Level::info);
  EXPECT_EQ(parse_log_level(""), log::Level::info);
  EXPECT_EQ(parse_log_level("Warn"), log::Level::warning);
  EXPECT_EQ(parse_log_level("warning"), log::Level::warning);
  EXPECT_EQ(parse_log_level("error"), log::Level::error);
  EXPECT_EQ(parse_log_level("verbose"), std::nullopt);
}

}  // namespace
}  // namespace dash::app
