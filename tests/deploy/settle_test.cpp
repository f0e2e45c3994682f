#include "core/deploy/settle.hpp"

#include "tests/deploy/state_fixture.hpp"

namespace dash::deploy {
namespace {

class Settle : public DeployState {
 protected:
  // A program whose lock could not be given back.
  void leave_lock() {
    auto state = open();
    ASSERT_FALSE(must(state->lock(lock_info("left"))));
    must(state->write(state_text(1, "[]")));
    must(records_.set_lock("j1", "left"));
  }
  bool is_locked() { return must(open()->holder()).has_value(); }
};

TEST_F(Settle, WritesTheStateThatAProgramCouldNotAndEndsItsLock) {
  leave_lock();
  auto state = open();
  must(settle(*state, records_, "j1", {state_text(2), true}));
  EXPECT_EQ(stored(), state_text(2));
  EXPECT_FALSE(is_locked());
  auto record = *must(records_.find("j1"));
  EXPECT_EQ(record.resources, 1);
  EXPECT_EQ(record.lock_id, "");
  EXPECT_FALSE(record.has_errored_state);
}

TEST_F(Settle, KeepsTheStateSealedWhileSomebodyElseHoldsTheLock) {
  ASSERT_FALSE(must(open()->lock(lock_info("foreign"))));
  auto state = open();
  auto settled = settle(*state, records_, "j1", {state_text(2), true});
  ASSERT_FALSE(settled);
  EXPECT_EQ(settled.error().code, Code::conflict);
  EXPECT_NE(settled.error().message.find("ann@host"), std::string::npos);
  EXPECT_EQ(must(records_.errored_state("j1")), state_text(2));
  EXPECT_EQ(must(records_.errored_jobs()), std::vector<std::string>{"j1"});
  EXPECT_TRUE(must(records_.has_resources("cloud1:vm:deploy"))) << "it can be destroyed";
  must(store_->remove(kKey + ".tflock"));
  auto again = open();
  must(settle(*again, records_, "j1", {}));
  EXPECT_EQ(stored(), state_text(2));
  EXPECT_FALSE(is_locked());
}

TEST_F(Settle, NeverReplacesANewerStateOrAnotherOne) {
  must(store_->put(kKey, state_text(3), {}));
  auto state = open();
  EXPECT_EQ(settle(*state, records_, "j1", {state_text(2), true}).error().code, Code::conflict);
  EXPECT_EQ(settle(*state, records_, "j1", {state_text(9, "[]", "other"), true}).error().code,
            Code::conflict);
  EXPECT_EQ(stored(), state_text(3));
}

TEST_F(Settle, LeavesTheLockOfAProgramThatWasKilled) {
  leave_lock();
  auto state = open();
  must(settle(*state, records_, "j1", {std::nullopt, false}));
  EXPECT_TRUE(is_locked());
  must(settle(*state, records_, "j1", {std::nullopt, true}));
  EXPECT_FALSE(is_locked());
}

TEST_F(Settle, IgnoresALockThatIsNotOursAnyMore) {
  must(records_.set_lock("j1", "gone"));
  ASSERT_FALSE(must(open()->lock(lock_info("foreign"))));
  auto state = open();
  must(settle(*state, records_, "j1", {std::nullopt, true}));
  EXPECT_TRUE(is_locked());
}

}  // namespace
}  // namespace dash::deploy
