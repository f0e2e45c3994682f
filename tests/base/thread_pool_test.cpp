#include "core/base/thread_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "tests/support/wait_until.hpp"

namespace dash {
namespace {

TEST(ThreadPool, RefusesWhenTheQueueIsFull) {
  std::promise<void> release, started;
  auto gate = release.get_future().share();
  ThreadPool pool("test", 1, 2);
  ASSERT_TRUE(pool.try_post([&, gate] {
    started.set_value();
    gate.wait();
  }));
  started.get_future().wait();
  EXPECT_TRUE(pool.try_post([] {}));
  EXPECT_TRUE(pool.try_post([] {}));
  EXPECT_FALSE(pool.try_post([] {}));
  auto load = pool.load();
  EXPECT_EQ(load.busy, 1u);
  EXPECT_EQ(load.queued, 2u);
  EXPECT_EQ(load.refused, 1u);
  release.set_value();
}

TEST(ThreadPool, AFurtherStepIsTakenEvenWhenTheQueueIsFull) {
  std::promise<void> release, ran;
  auto gate = release.get_future().share();
  ThreadPool pool("test", 1, 1);
  ASSERT_TRUE(pool.try_post([gate] { gate.wait(); }));
  EXPECT_TRUE(wait_until([&] { return pool.try_post([] {}); }));
  pool.post([&] { ran.set_value(); });
  release.set_value();
  ran.get_future().wait();
}

TEST(ThreadPool, AUserAndANetworkHaveTheirShareOfTheQueue) {
  std::promise<void> release, started;
  auto gate = release.get_future().share();
  ThreadPool pool("test", 1, 10, {2, 3});
  ASSERT_TRUE(pool.try_post([&, gate] {
    started.set_value();
    gate.wait();
  }));
  started.get_future().wait();
  const Holder ann{"ann", "192.0.2.1"}, bob{"bob", "192.0.2.1"}, eve{"eve", "192.0.2.9"};
  for (int i = 0; i < 20; ++i) pool.post([] {});  // further steps delay no other task
  EXPECT_TRUE(pool.try_post([] {}, ann) && pool.try_post([] {}, ann));
  EXPECT_FALSE(pool.try_post([] {}, ann));
  EXPECT_TRUE(pool.try_post([] {}, bob));
  EXPECT_FALSE(pool.try_post([] {}, bob));
  EXPECT_TRUE(pool.try_post([] {}, eve));
  release.set_value();
  EXPECT_TRUE(wait_until([&] { return pool.load().queued == 0; }));
  EXPECT_TRUE(pool.try_post([] {}, ann));
}

TEST(ThreadPool, EndsOnlyWhenWhatItAcceptedIsDone) {
  std::atomic<int> done = 0;
  {
    ThreadPool pool("test", 2, 100);
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(pool.try_post([&] { ++done; }));
  }
  EXPECT_EQ(done, 100);
}

TEST(ThreadPool, LetsAnotherThreadWorkForABlockedTask) {
  ThreadPool pool("test", 1, 100);
  std::promise<void> done;
  auto over = done.get_future().share();
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(pool.try_post([over] {
      ThreadPool::BlockingScope blocked;
      over.wait();
    }));
  ASSERT_TRUE(pool.try_post([&] { done.set_value(); }));  // never comes to run without one
  over.wait();
  EXPECT_TRUE(wait_until([&] { return pool.load().threads <= 1 && ThreadPool::blocked_count() == 0; }));
  std::promise<void> again;
  ASSERT_TRUE(pool.try_post([&] { again.set_value(); }));
  again.get_future().wait();
}

TEST(ThreadPool, EndsWithTasksThatAreBlocked) {
  std::promise<void> release, blocked;
  auto over = release.get_future().share();
  std::atomic<int> done = 0;
  std::jthread releaser;
  {
    ThreadPool pool("test", 2, 100);
    ASSERT_TRUE(pool.try_post([&] {
      ThreadPool::BlockingScope waits;
      blocked.set_value();
      over.wait();
      ++done;
    }));
    blocked.get_future().wait();
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(pool.try_post([&] { ++done; }));
    releaser = std::jthread([&] { release.set_value(); });
  }
  EXPECT_EQ(done, 11);
}

}  // namespace
}  // namespace dash
