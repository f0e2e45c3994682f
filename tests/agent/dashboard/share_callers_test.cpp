#include "core/agent/dashboard/share_callers.hpp"

#include <gtest/gtest.h>

#include <future>

#include "tests/support/must.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::agent {
namespace {

Result<int> answer(int value) { return value; }

TEST(ShareCallers, RefusesTheOneTooManyAndSaysWhenToComeAgain) {
  ShareCallers callers(1);
  auto refused = callers.wait([&] { return callers.wait([] { return answer(2); }); });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::busy);
  EXPECT_TRUE(refused.error().retry_after);
  EXPECT_EQ(must(callers.wait([] { return answer(3); })), 3);
}

// Both threads of the pool wait for the task behind them.
TEST(ShareCallers, LeaveTheirThreadsOfAPoolToOthers) {
  ShareCallers callers;
  ThreadPool pool("store", 2, 10);
  std::promise<int> answered;
  auto future = answered.get_future().share();
  std::atomic<int> got = 0;
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(pool.try_post([&] { got += must(callers.wait([&] { return answer(future.get()); })); }));
  ASSERT_TRUE(pool.try_post([&] { answered.set_value(4); }));
  EXPECT_TRUE(wait_until([&] { return got == 8; }));
}

}  // namespace
}  // namespace dash::agent
