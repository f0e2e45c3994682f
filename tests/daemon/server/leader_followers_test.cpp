#include "daemon/server/leader_followers.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "tests/daemon/running.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::daemon {
namespace {

// A loop whose callbacks are posted by the test.
class Callbacks {
 public:
  explicit Callbacks(std::size_t count) { threads.start(count); }
  void post(std::function<void()> callback) {
    std::lock_guard lock(mutex_);
    queue_.push_back(std::move(callback));
    changed_.notify_one();
  }
  // Returns whether the callback was run.
  bool is_run(std::function<void()> callback) {
    std::atomic<bool> was_run = false;
    post([&] {
      callback();
      was_run = true;
    });
    return wait_until([&] { return was_run.load(); });
  }

 private:
  bool step() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_ || !queue_.empty(); });
    if (ended_) return false;
    auto callback = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    callback();
    return true;
  }
  void end() {
    std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool ended_ = false;

 public:
  LeaderFollowers threads{[this] { return step(); }, [this] { end(); }};  // last: its threads use the others
};

TEST(LeaderFollowers, AHandlerThatBlocksLosesTheLead) {
  Gate gate;
  std::atomic<int> led_on = -1;
  Callbacks loop(3);
  loop.post([&] {
    EXPECT_TRUE(loop.threads.begin_work());
    gate.pass();
    led_on = loop.threads.end_work();
  });
  gate.await_arrivals(1);
  EXPECT_TRUE(loop.is_run([] {})) << "another callback, meanwhile";
  gate.open();
  EXPECT_TRUE(wait_until([&] { return led_on != -1; }));
  EXPECT_EQ(led_on, 0);
}

// Two switches are saved. A busy machine may take the processor away from one handler, and not from all of them.
TEST(LeaderFollowers, AShortHandlerKeepsTheLead) {
  Callbacks loop(2);
  int led_on = 0;
  for (int i = 0; i < 200; ++i)
    EXPECT_TRUE(loop.is_run([&] {
      ASSERT_TRUE(loop.threads.begin_work());
      led_on += loop.threads.end_work();
    }));
  EXPECT_GT(led_on, 0);
}

TEST(LeaderFollowers, WhoWaitsHandsOverFirst) {
  Gate gate;
  Callbacks loop(2);
  loop.post([&] {
    EXPECT_TRUE(loop.threads.begin_work());
    before_wait();
    EXPECT_FALSE(loop.threads.end_work());
    before_wait();  // it leads no more
    gate.pass();
  });
  gate.await_arrivals(1);
  EXPECT_TRUE(loop.is_run([] {}));
  gate.open();
}

TEST(LeaderFollowers, WithoutAFreeThreadThereIsNoWork) {
  Gate gate;
  Callbacks alone(1), loop(2);
  EXPECT_TRUE(alone.is_run([&] { EXPECT_FALSE(alone.threads.begin_work()); }));
  loop.post([&] {
    EXPECT_TRUE(loop.threads.begin_work());
    gate.pass();
    EXPECT_FALSE(loop.threads.end_work());
  });
  gate.await_arrivals(1);
  EXPECT_TRUE(loop.is_run([&] { EXPECT_FALSE(loop.threads.begin_work()); }));
  gate.open();
}

// Every callback runs, one at a time, however the lead goes from thread to thread.
TEST(LeaderFollowers, NoCallbackIsLostOrBesideAnother) {
  constexpr int kCallbacks = 20'000;
  Callbacks loop(4);
  int count = 0;  // belongs to the loop
  std::atomic<int> done = 0;
  for (int i = 0; i < kCallbacks; ++i)
    loop.post([&, i] {
      bool is_work = i % 7 != 0 && loop.threads.begin_work();
      if (is_work && i % 3 == 0) before_wait();
      auto count_one = [&] {
        ++count;
        ++done;
      };
      !is_work || loop.threads.end_work() ? count_one() : loop.post(count_one);
    });
  EXPECT_TRUE(wait_until([&] { return done >= kCallbacks; })) << done;
  EXPECT_TRUE(loop.is_run([&] { EXPECT_EQ(count, kCallbacks); }));
}

}  // namespace
}  // namespace dash::daemon
