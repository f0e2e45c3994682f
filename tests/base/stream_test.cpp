#include "core/base/stream.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash {
namespace {

// One byte at a time, as a slow connection gives them.
class TrickleSource final : public Source {
 public:
  explicit TrickleSource(std::string_view text) : text_(text) {}
  Result<std::size_t> read(std::span<char> into) override { return text_.read(into.first(1)); }

 private:
  StringSource text_;
};

std::string read_all(Source& source, std::size_t piece_size) {
  std::string all, piece(piece_size, ' ');
  while (auto n = must(source.read(piece))) all.append(piece, 0, n);
  return all;
}

}  // namespace

TEST(StringSource, GivesTheTextInPiecesOfAnySizeAndThenTheEnd) {
  for (std::size_t size : {1u, 3u, 8u, 100u}) {
    StringSource source("some text");
    EXPECT_EQ(read_all(source, size), "some text");
    std::string piece(4, ' ');
    EXPECT_EQ(must(source.read(piece)), 0u);
  }
}

TEST(ReadFull, GoesOnUntilTheMemoryIsFullOrTheSourceEnds) {
  TrickleSource source("abcdefg");
  std::string four(4, ' ');
  EXPECT_EQ(must(read_full(source, four)), 4u);
  EXPECT_EQ(four, "abcd");
  EXPECT_EQ(must(read_full(source, four)), 3u);
  EXPECT_EQ(four, "efgd");
  EXPECT_EQ(must(read_full(source, four)), 0u);
}

TEST(CopyAll, MovesEveryByteInOrder) {
  std::string text(600'000, 'x');
  for (std::size_t i = 0; i < text.size(); i += 7) text[i] = static_cast<char>(i);
  StringSource source(text);
  StringSink sink(text.size());
  EXPECT_EQ(must(copy_all(source, sink)), text.size());
  EXPECT_TRUE(sink.text() == text);
}

TEST(CopyAll, StopsAtTheErrorOfEitherSide) {
  FunctionSource broken([](std::span<char>) -> Result<std::size_t> { return fail(Code::upstream, "cut"); });
  StringSink any(10);
  EXPECT_EQ(copy_all(broken, any).error().code, Code::upstream);
  StringSource text("0123456789a");
  EXPECT_EQ(copy_all(text, any).error().code, Code::too_large);
}

TEST(FunctionSink, HandsOnPiecesAndErrors) {
  std::string seen;
  FunctionSink sink([&](std::string_view bytes) -> Result<void> {
    if (bytes == "end") return fail(Code::interrupted, "enough");
    seen += bytes;
    return {};
  });
  must(sink.write("a"));
  must(sink.write("b"));
  EXPECT_EQ(sink.write("end").error().code, Code::interrupted);
  EXPECT_EQ(seen, "ab");
}

TEST(StringSink, HoldsExactlyItsBoundAndNoByteMore) {
  StringSink sink(4);
  must(sink.write("abc"));
  EXPECT_EQ(sink.write("de").error().code, Code::too_large);
  EXPECT_EQ(sink.text(), "abc");
  must(sink.write("d"));
  must(sink.write(""));
  EXPECT_EQ(sink.write("e").error().code, Code::too_large);
  EXPECT_EQ(sink.take(), "abcd");
}

TEST(SpanWriter, WritesAtAnyPositionInsideOfItsMemory) {
  std::string memory(6, '.');
  SpanWriter writer(memory);
  must(writer.write(4, "ef"));
  must(writer.write(0, "xx"));
  must(writer.write(0, "ab"));
  EXPECT_EQ(memory, "ab..ef");
  must(writer.write(6, ""));
}

TEST(SpanWriter, RefusesWhatLiesBeyondAndLeavesTheRest) {
  std::string memory(6, '.');
  SpanWriter writer(memory);
  EXPECT_EQ(writer.write(5, "fg").error().code, Code::too_large);
  EXPECT_EQ(writer.write(6, "g").error().code, Code::too_large);
  EXPECT_EQ(writer.write(~0ull, "ab").error().code, Code::too_large);
  EXPECT_EQ(memory, "......");
}

TEST(SpanWriter, LendsItsMemory) {
  std::string memory(6, '.');
  SpanWriter writer(memory);
  auto middle = writer.memory({2, 3});
  ASSERT_EQ(middle.size(), 3u);
  middle[0] = 'c';
  EXPECT_EQ(memory, "..c...");
  EXPECT_TRUE(writer.memory({4, 3}).empty());
  EXPECT_TRUE(writer.memory({7, 0}).empty());
}

}  // namespace dash
