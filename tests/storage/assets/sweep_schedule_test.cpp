#include "core/storage/assets/sweep_schedule.hpp"

#include <gtest/gtest.h>

#include "tests/support/storage_instance.hpp"

namespace dash::storage {
namespace {

// Its wall clock can be moved apart from the steady one.
class JumpingClock final : public Clock {
 public:
  Time now() const override { return time_.now() + jump; }
  SteadyTime steady_now() const override { return time_.steady_now(); }
  void advance(std::chrono::microseconds by) { time_.advance(by); }
  std::chrono::hours jump{0};

 private:
  FakeClock time_;
};

struct SweepScheduleTest : testing::Test {
  SweepDeps deps() { return {one.storage.stores(), *world.sql, one.audit, clock}; }
  // Leaves an upload that began `age` ago by the true time.
  void leave(std::chrono::hours age) {
    world.store().upload_began = clock.now() - clock.jump - age;
    must(world.store().begin("config-mgmt/left.rpm", 3));
  }
  void pass(SweepSchedule& schedule, std::chrono::seconds by) {
    clock.advance(by);
    schedule.tick();
  }
  StorageFixture world;
  Replica one{world};
  config::Settings settings{world.config};
  JumpingClock clock;
};

TEST_F(SweepScheduleTest, SweepsAfterTheStartAndThenEveryDayOnOneReplica) {
  SweepSchedule here(deps(), settings), there(deps(), settings);
  leave(std::chrono::hours(25));
  pass(here, SweepSchedule::kFirstLook);
  EXPECT_EQ(world.store().open_uploads(), 0u);
  leave(std::chrono::hours(25));
  there.tick();
  pass(there, std::chrono::hours(23));
  EXPECT_EQ(world.store().open_uploads(), 1u) << "the turn was taken";
  pass(there, std::chrono::hours(2));
  pass(here, std::chrono::seconds(0));
  EXPECT_EQ(world.store().open_uploads(), 0u);
  EXPECT_EQ(world.audited("storage.gc").size(), 2u);
}

TEST_F(SweepScheduleTest, NeverSweepsWhenTheSettingIsZero) {
  world.set("storage_gc_hours", "0");
  SweepSchedule schedule(deps(), settings);
  leave(std::chrono::hours(25));
  pass(schedule, std::chrono::hours(100));
  EXPECT_EQ(world.store().open_uploads(), 1u);
}

TEST_F(SweepScheduleTest, AJumpOfTheClockDropsNothingInUse) {
  SweepSchedule schedule(deps(), settings);
  pass(schedule, SweepSchedule::kFirstLook);
  leave(std::chrono::hours(1));
  clock.jump = std::chrono::hours(48);
  pass(schedule, std::chrono::seconds(10));
  pass(schedule, std::chrono::hours(10));
  EXPECT_EQ(world.store().open_uploads(), 1u);
  pass(schedule, std::chrono::hours(15));
  EXPECT_EQ(world.store().open_uploads(), 0u) << "by now it is old by any clock";
}

TEST(SweepHours, AreANumberThatIsNotNegative) {
  for (auto good : {"", "0", "24", " 1 "}) EXPECT_TRUE(check_sweep_hours("storage_gc_hours", good)) << good;
  for (auto bad : {"-1", "x", "1.5", "99999999"})
    EXPECT_EQ(check_sweep_hours("storage_gc_hours", bad).error().code, Code::invalid) << bad;
}

}  // namespace
}  // namespace dash::storage
