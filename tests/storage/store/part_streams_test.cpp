#include "core/storage/store/part_streams.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

#include "tests/support/must.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::storage {
namespace {

class ReadParts : public ::testing::Test {
 protected:
  // Keeps every part that its streams bring.
  struct Keeper final : PartSink {
    explicit Keeper(ReadParts& its) : test(its) {}
    Result<void> begin(std::uint32_t number) override {
      if (number == test.refused_part) return fail(Code::internal, "the disk is full");
      n = number;
      bytes.clear();
      return {};
    }
    Result<void> write(std::string_view more) override {
      bytes += more;
      return {};
    }
    Result<void> finish() override {
      std::lock_guard lock(test.mutex);
      EXPECT_TRUE(test.parts.emplace(n, bytes).second) << "part " << n << " came twice";
      test.order.push_back(n);
      return {};
    }
    ReadParts& test;
    std::uint32_t n = 0;
    std::string bytes;
  };

  PartReading reading() {
    return {.size = object.size(),
            .read = [this](ByteRange range, RandomWriter& out) { return read(range, out); },
            .make_sink = [this] { return std::make_unique<Keeper>(*this); },
            .count =
                [this](const StreamPace&) {
                  ++judged;
                  return wanted;
                }};
  }
  // Sends pieces that fit no part. The first waits at its second piece until `may_go_on`.
  Result<void> read(ByteRange range, RandomWriter& out) {
    auto call = ++reads;
    constexpr std::size_t kPiece = 3'000'001;
    for (std::uint64_t at = 0; at < range.size; at += kPiece) {
      if (call == 1 && at > 0) {
        EXPECT_TRUE(wait_until(may_go_on));
      }
      auto size = static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, range.size - at));
      TRY(out.write(at, std::string_view(object).substr(static_cast<std::size_t>(range.offset + at), size)));
      sent += size;
    }
    return {};
  }
  std::string whole() {
    std::string all;
    for (const auto& [n, bytes] : parts) all += bytes;
    return all;
  }
  void fill(std::size_t size) {
    object.resize(size);
    for (std::size_t i = 0; i < size; i += 997) object[i] = static_cast<char>(i / 997);
  }

  std::string object;
  std::function<bool()> may_go_on = [] { return true; };
  std::size_t wanted = 1;
  std::uint32_t refused_part = 0;
  std::atomic<int> reads = 0, judged = 0;
  std::atomic<std::uint64_t> sent = 0;
  std::mutex mutex;
  std::map<std::uint32_t, std::string> parts;
  std::vector<std::uint32_t> order;
};

TEST_F(ReadParts, ReadsEverythingWithOneCallAfterTheFront) {
  for (auto size :
       {std::size_t{0}, std::size_t{1}, kPartBytes, kPartBytes + 1, 3 * kPartBytes, 5 * kPartBytes + 7}) {
    fill(size);
    for (auto front : {std::size_t{0}, std::size_t{1}, kPartBytes / 2, kPartBytes}) {
      parts.clear();
      reads = 0;
      auto one = reading();
      one.front = std::string_view(object).substr(0, front);
      must(read_parts(one));
      EXPECT_TRUE(whole() == object) << size << " " << front;
      EXPECT_EQ(parts.size(), part_count(size));
      EXPECT_EQ(reads, size > front ? 1 : 0);
    }
  }
}

TEST_F(ReadParts, StaysWithOneStreamThatIsFastEnough) {
  fill(5 * kPartBytes);
  may_go_on = [this] { return judged > 0; };
  must(read_parts(reading()));
  EXPECT_EQ(reads, 1);
  EXPECT_TRUE(std::ranges::is_sorted(order));
  EXPECT_TRUE(whole() == object);
}

TEST_F(ReadParts, ReadsSideBySideOnceTheFirstStreamIsSlow) {
  fill(17 * kPartBytes + 5);
  wanted = 4;
  may_go_on = [this] { return reads >= 4; };
  must(read_parts(reading()));
  EXPECT_TRUE(whole() == object);
  EXPECT_EQ(parts.size(), 18u);
}

TEST_F(ReadParts, HasNoMoreStreamsThanItsCallerAllows) {
  fill(5 * kPartBytes);
  wanted = 4;
  auto one = reading();
  one.max_streams = 1;
  must(read_parts(one));
  EXPECT_EQ(reads, 1);
  wanted = 100;
  parts.clear();
  reads = 0;
  may_go_on = [this] { return reads >= 2; };
  auto two = reading();
  two.max_streams = 2;
  must(read_parts(two));
  EXPECT_TRUE(whole() == object);
}

TEST_F(ReadParts, EndsEveryStreamWhenASinkFails) {
  fill(40 * kPartBytes);
  wanted = 4;
  refused_part = 3;
  may_go_on = [this] { return reads >= 4; };
  int told = 0;
  auto one = reading();
  one.on_error = [&told] { ++told; };
  auto failed = read_parts(one);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "the disk is full");
  EXPECT_EQ(told, 1);
  EXPECT_LE(parts.size(), 39u);
}

TEST_F(ReadParts, ReturnsTheErrorOfARead) {
  fill(4 * kPartBytes);
  auto one = reading();
  one.read = [](ByteRange, RandomWriter&) -> Result<void> {
    return fail(Code::precondition, "it was replaced");
  };
  EXPECT_EQ(read_parts(one).error().code, Code::precondition);
}

TEST_F(ReadParts, TakesNoByteTwiceFromAReadThatBeginsAgain) {
  fill(2 * kPartBytes + 9);
  auto one = reading();
  one.read = [this](ByteRange range, RandomWriter& out) -> Result<void> {
    TRY(out.write(0, std::string_view(object).substr(0, kPartBytes + 100)));
    return read(range, out);
  };
  must(read_parts(one));
  EXPECT_TRUE(whole() == object);
}

}  // namespace
}  // namespace dash::storage
