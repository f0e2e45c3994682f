#include "core/net/http/retry.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace dash::net {
namespace {

using std::chrono::milliseconds;

struct Waits {
  std::vector<milliseconds> seen;
  Retry retry(RetryPolicy policy, double chance) {
    return Retry(
        policy, [this](milliseconds time) { seen.push_back(time); }, [chance] { return chance; });
  }
};

Result<int> failing(Code code, std::optional<std::chrono::seconds> after = {}) {
  return Failure(Error{.code = code, .message = "no", .retry_after = after});
}

TEST(Retry, AsksAgainWhileTheFailurePasses) {
  Waits waits;
  auto result = waits.retry({}, 0).run(
      [](int attempt) { return attempt < 2 ? failing(Code::unreachable) : Result<int>(7); });
  EXPECT_EQ(result.value(), 7);
  EXPECT_EQ(waits.seen.size(), 2u);
}

TEST(Retry, DoesNotRepeatWhatNoWaitingMends) {
  for (auto code :
       {Code::upstream, Code::not_found, Code::conflict, Code::precondition, Code::invalid, Code::tls}) {
    Waits waits;
    EXPECT_EQ(waits.retry({}, 0).run([&](int) { return failing(code); }).error().code, code);
    EXPECT_TRUE(waits.seen.empty());
  }
}

// A server that hangs for a minute each time is called once.
TEST(Retry, DoesNotBeginAgainWhenEnoughTimeHasGoneBy) {
  Retry::Steady::time_point now;
  Retry retry(
      {}, [&](milliseconds time) { now += time; }, [] { return 0.0; }, [&] { return now; });
  int asked = 0;
  auto hang = [&](std::chrono::seconds time) {
    return [&, time](int) {
      ++asked;
      now += time;
      return failing(Code::timeout);
    };
  };
  EXPECT_EQ(retry.run(hang(std::chrono::seconds(60))).error().code, Code::timeout);
  EXPECT_EQ(asked, 1);
  asked = 0;
  EXPECT_FALSE(retry.run(hang(std::chrono::seconds(20))));
  EXPECT_EQ(asked, 3);
}

TEST(Retry, GivesUpAfterTheLastAttemptWithItsError) {
  Waits waits;
  int asked = 0;
  auto result = waits.retry({.attempts = 3}, 0).run([&](int) {
    ++asked;
    return failing(Code::timeout);
  });
  EXPECT_EQ(result.error().code, Code::timeout);
  EXPECT_EQ(asked, 3);
}

TEST(Retry, WaitsTwiceAsLongEachTimeUpToTheLongest) {
  Waits waits;
  RetryPolicy policy{.attempts = 5, .initial_delay = milliseconds(100), .max_delay = milliseconds(300)};
  EXPECT_FALSE(waits.retry(policy, 1.0).run([](int) { return failing(Code::busy); }));
  EXPECT_EQ(waits.seen, (std::vector<milliseconds>{milliseconds(100), milliseconds(200), milliseconds(300),
                                                   milliseconds(300)}));
}

TEST(Retry, JitterTakesAtMostHalfOfTheWait) {
  Waits waits;
  EXPECT_FALSE(waits.retry({.attempts = 2, .initial_delay = milliseconds(100)}, 0.0).run([](int) {
    return failing(Code::busy);
  }));
  EXPECT_EQ(waits.seen, std::vector{milliseconds(50)});
}

TEST(Retry, HonoursRetryAfter) {
  Waits waits;
  EXPECT_FALSE(waits.retry({.attempts = 2}, 0.5).run([](int) {
    return failing(Code::busy, std::chrono::seconds(7));
  }));
  EXPECT_EQ(waits.seen, std::vector{milliseconds(7000)});
}

TEST(Retry, DoesNotWaitForARetryAfterBeyondItsPatience) {
  Waits waits;
  auto result = waits.retry({.max_retry_after = milliseconds(1000)}, 0).run([](int) {
    return failing(Code::busy, std::chrono::seconds(2));
  });
  EXPECT_EQ(result.error().retry_after, std::chrono::seconds(2));
  EXPECT_TRUE(waits.seen.empty());
}

}  // namespace
}  // namespace dash::net
