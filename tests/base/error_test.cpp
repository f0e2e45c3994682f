#include "core/base/error.hpp"

#include <gtest/gtest.h>

namespace dash {
namespace {

using std::chrono::seconds;

TEST(Error, HasACodeAMessageAndWhenToTryAgain) {
  auto error = busy(seconds(2), "{} of {} are in use", 3, 4);
  EXPECT_EQ(error.code, Code::busy);
  EXPECT_EQ(error.message, "3 of 4 are in use");
  EXPECT_EQ(error.retry_after, seconds(2));
  EXPECT_EQ(throttled(seconds(7), "too many").code, Code::throttled);
  EXPECT_EQ(throttled(seconds(7), "too many").retry_after, seconds(7));
}

TEST(Error, HasNothingThatItsMakerDoesNotSet) {
  for (const auto& error :
       {too_large("at most {} bytes", 5), make_error(Code::too_large, "at most {} bytes", 5),
        fail(Code::too_large, "at most {} bytes", 5).value()}) {
    EXPECT_EQ(error.code, Code::too_large);
    EXPECT_EQ(error.message, "at most 5 bytes");
    EXPECT_EQ(error.detail, "");
    EXPECT_FALSE(error.retry_after);
    EXPECT_FALSE(error.body);
  }
}

TEST(Error, TakesContextInFrontOfItsMessage) {
  Result<int> failed = fail(Code::integrity, "not JSON");
  EXPECT_EQ(within("reading bundle.json", failed).error().message, "reading bundle.json: not JSON");
  EXPECT_EQ(within("reading bundle.json", Result<int>(3)).value(), 3);
}

}  // namespace
}  // namespace dash
