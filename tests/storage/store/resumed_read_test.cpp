#include "core/storage/store/resumed_read.hpp"

#include <gtest/gtest.h>

#include "core/base/buffer_pool.hpp"
#include "tests/support/must.hpp"

namespace dash::storage {
namespace {

class ReadResumed : public ::testing::Test {
 protected:
  // Brings `step` bytes a call and then breaks off, until the range is there.
  Result<std::uint64_t> read(std::uint64_t size, std::uint64_t step, Code code = Code::unreachable) {
    std::string into(size, '\0');
    SpanWriter writer(into);
    auto got = read_resumed(
        retry, {100, size}, writer, [&](ByteRange range, RandomWriter& out) -> Result<std::uint64_t> {
          ranges.push_back(range);
          auto now = std::min(step, range.size);
          TRY(out.write(
              0, std::string(static_cast<std::size_t>(now), static_cast<char>('a' + ranges.size() % 26))));
          if (now == range.size) return now;
          return fail(code, "cut");
        });
    is_filled = into.find('\0') == into.npos;
    return got;
  }
  net::Retry retry{{.attempts = 3}, [](std::chrono::milliseconds) {}, [] { return 0.0; }};
  std::vector<ByteRange> ranges;
  bool is_filled = false;
};

TEST_F(ReadResumed, GoesOnAfterTheBytesThatCame) {
  EXPECT_EQ(must(read(10, 4)), 10u);
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(ranges[1].offset, 104u);
  EXPECT_EQ(ranges[1].size, 6u);
  EXPECT_EQ(ranges[2].offset, 108u);
  EXPECT_TRUE(is_filled);
}

TEST_F(ReadResumed, GivesUpWhenTheAttemptsBringTooLittle) {
  EXPECT_EQ(read(10, 1).error().code, Code::unreachable);
  EXPECT_EQ(ranges.size(), 3u);
}

TEST_F(ReadResumed, CountsTheAttemptsAnewAfterAPart) {
  EXPECT_EQ(must(read(10 * kPartBytes, kPartBytes / 2)), 10 * kPartBytes);
  EXPECT_EQ(ranges.size(), 20u);
  EXPECT_TRUE(is_filled);
}

TEST_F(ReadResumed, DoesNotTryAgainAfterAFailureForGood) {
  EXPECT_EQ(read(10 * kPartBytes, 2 * kPartBytes, Code::precondition).error().code, Code::precondition);
  EXPECT_EQ(ranges.size(), 1u);
}

TEST_F(ReadResumed, NeedsNoMoreWhenOnlyTheEndOfTheAnswerWasLost) {
  std::string into(5, '\0');
  SpanWriter writer(into);
  int calls = 0;
  auto got = read_resumed(retry, {0, 5}, writer, [&](ByteRange, RandomWriter& out) -> Result<std::uint64_t> {
    ++calls;
    TRY(out.write(0, "hello"));
    return fail(Code::unreachable, "cut");
  });
  EXPECT_EQ(must(got), 5u);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(into, "hello");
}

}  // namespace
}  // namespace dash::storage
