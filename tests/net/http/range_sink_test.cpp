#include "core/net/http/range_sink.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash::net {

TEST(RangeSink, WritesThePiecesOfABodyOneAfterTheOther) {
  std::string memory(6, '.');
  SpanWriter out(memory);
  RangeSink sink(out, 4, "https://store.test");
  must(sink.write("ab"));
  must(sink.write(""));
  must(sink.write("cd"));
  EXPECT_EQ(memory, "abcd..");
}

TEST(RangeSink, RefusesABodyThatIsLongerThanTheRange) {
  std::string memory(6, '.');
  SpanWriter out(memory);
  RangeSink sink(out, 4, "https://store.test");
  must(sink.write("abc"));
  auto refused = sink.write("de");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::upstream);
  EXPECT_EQ(refused.error().message, "https://store.test sent more bytes than were requested");
  EXPECT_EQ(memory, "abc...");
}

}  // namespace dash::net
