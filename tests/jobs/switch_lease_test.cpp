#include "core/jobs/switch_lease.hpp"

#include "core/base/file.hpp"
#include "tests/support/jobs_fixture.hpp"

namespace dash::jobs {
namespace {

class SwitchLeaseTest : public JobsFixture {
 protected:
  SwitchLeaseTest() {
    std::filesystem::create_directory(scratch_ / "deploy");
    for (auto name : {"cloud1-vm-deploy", "cloud1-vm-destroy", "config-mgmt-run"})
      must(write_file(scratch_ / "deploy/" + name, "#!/bin/sh\n", 0755));
  }
  auto take(const std::string& username = "ann") { return SwitchLease::take(*sql_, clock_, username); }
  bool is_running() {
    return must(db::read<bool>(*sql_, [&](db::Transaction& tx) -> Result<bool> {
      return TRY(find_backend_switch(tx, clock_.now())).has_value();
    }));
  }
  bool is_held(const SwitchLease& lease) {
    return must(db::read<bool>(*sql_, [&](db::Transaction& tx) { return lease.is_held(tx); }));
  }
  // As a process of another machine that has died, or one of this machine.
  void leave_behind(const std::string& process) {
    must(sql_->write([&](db::Transaction& tx) -> Result<void> {
      TRY(tx.exec(R"(UPDATE backend_switch
                     SET owner = 'x', process = $1, username = 'gone', lease_until = $2, lease_micros = 10000000)",
                  {process, to_micros(clock_.now() + kSwitchLeaseLength)}));
      return {};
    }));
  }
  std::optional<Job> claim() { return must(Worker(deps_, executors_, "one").claim()); }
  Executors executors_{scratch_ / "deploy", ""};
};

TEST_F(SwitchLeaseTest, OneSwitchExcludesAnotherUntilItEnds) {
  auto first = must(take("ann"));
  auto refused = take("bob");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_NE(refused.error().message.find("'ann'"), std::string::npos) << refused.error().message;
  EXPECT_TRUE(is_held(*first));
  first.reset();
  EXPECT_FALSE(is_running());
  must(take("bob"));
}

TEST_F(SwitchLeaseTest, HoldsDeploysAndDestroysBackAndNothingElse) {
  auto deploy_job = deployed();
  {
    auto lease = must(take());
    EXPECT_FALSE(claim());
    must(sql_->write([&](db::Transaction& tx) -> Result<void> {
      TRY(tx.exec("UPDATE jobs SET action = 'cloud1:vm:destroy'"));
      return {};
    }));
    EXPECT_FALSE(claim());
    must(sql_->write([&](db::Transaction& tx) -> Result<void> {
      TRY(tx.exec("UPDATE jobs SET action = 'config-mgmt:run'"));
      return {};
    }));
    EXPECT_TRUE(claim());
    must(sql_->write([&](db::Transaction& tx) -> Result<void> {
      TRY(tx.exec("UPDATE jobs SET action = 'cloud1:vm:deploy', state = 'pending'"));
      return {};
    }));
    EXPECT_FALSE(claim());
  }
  auto claimed = claim();
  ASSERT_TRUE(claimed);
  EXPECT_EQ(claimed->id, deploy_job.id);
}

TEST_F(SwitchLeaseTest, EndsByItselfWhenItsProcessDies) {
  deployed();
  leave_behind("another-machine pid:[1] 7 1");
  EXPECT_FALSE(claim());
  EXPECT_FALSE(take());
  clock_.advance(kSwitchLeaseLength + std::chrono::seconds(1));
  EXPECT_TRUE(claim());
  must(take());
}

TEST_F(SwitchLeaseTest, AWrongClockHoldsNothingForLong) {
  leave_behind("");
  clock_.advance(-std::chrono::hours(24));
  EXPECT_FALSE(is_running());
}

TEST_F(SwitchLeaseTest, AProcessThatStoodStillHasLostIt) {
  auto lease = must(take());
  clock_.advance(kSwitchLeaseLength + std::chrono::seconds(1));
  EXPECT_FALSE(is_held(*lease));
  auto other = must(take("bob"));
  EXPECT_FALSE(is_held(*lease));
  lease.reset();
  EXPECT_TRUE(is_held(*other)) << "the first does not end the second";
}

}  // namespace
}  // namespace dash::jobs
