#include "core/storage/store/stream_pace.hpp"

#include <gtest/gtest.h>

#include "tests/support/fake_clock.hpp"

namespace dash::storage {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMiB = 1u << 20;

TEST(StreamCount, IsOneForAStreamThatIsFast) {
  EXPECT_EQ(stream_count({.waited = 1s, .busy = 0s, .bytes = 256 * kMiB}), 1u);
  EXPECT_EQ(stream_count({.waited = 200ms, .busy = 100ms, .bytes = 200 * kMiB}), 1u);
}

TEST(StreamCount, IsMoreForOneThatIsHeldBackByItsLinkOrItsStore) {
  EXPECT_EQ(stream_count({.waited = 1s, .busy = 0s, .bytes = 255 * kMiB}), kMaxStreams);
  EXPECT_EQ(stream_count({.waited = 200ms, .busy = 1ms, .bytes = 0}), kMaxStreams) << "nothing came";
}

TEST(StreamCount, IsOneWhileTheBytesComeSoonerThanTheyAreUsed) {
  EXPECT_EQ(stream_count({.waited = 300ms, .busy = 2s, .bytes = kMiB}), 1u);
}

TEST(StreamMeter, TellsWaitingFromWorkAndBeginsAnewAfterEachAnswer) {
  FakeClock clock;
  StreamMeter meter(clock);
  clock.advance(150ms);
  EXPECT_FALSE(meter.read()) << "too early";
  meter.arrive(1000);
  clock.advance(5s);
  EXPECT_FALSE(meter.read()) << "it has not waited longer";
  meter.settle();
  clock.advance(100ms);
  auto pace = meter.read();
  ASSERT_TRUE(pace);
  EXPECT_EQ(pace->waited, 250ms);
  EXPECT_EQ(pace->busy, 5s);
  EXPECT_EQ(pace->bytes, 1000u);
  EXPECT_FALSE(meter.read());
  clock.advance(1s);
  pace = meter.read();
  ASSERT_TRUE(pace) << "a stream that stopped is seen";
  EXPECT_EQ(pace->waited, 1s);
  EXPECT_EQ(pace->bytes, 0u);
}

}  // namespace
}  // namespace dash::storage
