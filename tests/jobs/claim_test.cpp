// What a worker may begin: the window is checked again at the claim, and no wrong clock holds a job for long.
#include "core/base/file.hpp"
#include "core/jobs/worker.hpp"
#include "tests/support/jobs_fixture.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::jobs {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
constexpr std::chrono::hours kYear{24 * 365};

// Now is Friday 2026-07-03 14:00 UTC.
class Claim : public JobsFixture {
 protected:
  Claim() {
    set("admission_gated_actions", "cloud1:vm:deploy");
    std::filesystem::create_directory(scratch_ / "deploy");
    for (auto name : {"cloud1-vm-deploy", "cloud1-vm-destroy"})
      must(write_file(scratch_ / "deploy/" + name, "#!/bin/sh\n", 0755));
    window_ = must(
        windows_.create(root_, {{"name", "nights"}, {"start_at_local", "22:00"}, {"duration_minutes", 240}}));
  }
  void attach() { must(workgroups_.update(root_, "team-a", {{"change_window_id", window_.id}})); }
  Job change(Json more = Json::object()) {
    more["workgroup"] = "team-a";
    return must(deploy_as(carol_, machine(more))).jobs.at(0);
  }
  Job booked() { return change({{"change_window_id", window_.id}, {"run_at", "2026-07-03T23:00"}}); }
  bool work() {
    must(jobs_.sweep());
    return must(Worker(deps_, executors_, "one").work(stop_));
  }
  void sql(const std::string& statement, db::Params params = {}) {
    must(sql_->write([&](db::Transaction& tx) -> Result<void> {
      TRY(tx.exec(statement, params));
      return {};
    }));
  }
  void expect_missed(const Job& made) {
    EXPECT_FALSE(work());
    auto now = job(made.id);
    EXPECT_EQ(now.state, State::missed);
    EXPECT_EQ(now.reason, "change_window");
    EXPECT_FALSE(now.started_at);
    EXPECT_EQ(now.attempts, 0);
    EXPECT_TRUE(now.completed_at);
  }
  windows::Window window_;
  Executors executors_{scratch_ / "deploy", ""};
  std::atomic<bool> stop_ = false;
};

TEST_F(Claim, ABookedJobRunsInItsWindow) {
  auto made = booked();
  clock_.set("2026-07-03T23:00:00Z");
  EXPECT_TRUE(work());
  EXPECT_EQ(state(made.id), State::completed);
}

TEST_F(Claim, AJobWhoseWindowWasDisabledIsMissed) {
  auto made = booked();
  must(windows_.update(root_, window_.id, {{"enabled", false}}));
  clock_.set("2026-07-03T23:00:00Z");
  expect_missed(made);
  must(windows_.update(root_, window_.id, {{"enabled", true}}));
  must(jobs_.reschedule(carol_, made.id, Json::object()));
  EXPECT_TRUE(work()) << "it can be booked anew";
}

TEST_F(Claim, AJobWhoseWindowMovedAwayIsMissed) {
  auto made = booked();
  must(windows_.update(root_, window_.id, {{"start_at_local", "02:00"}}));
  clock_.set("2026-07-03T23:00:00Z");
  expect_missed(made);
}

TEST_F(Claim, AJobWhoseWindowMovedAndStillHoldsItsTimeRuns) {
  auto made = booked();
  must(windows_.update(root_, window_.id, {{"start_at_local", "22:30"}, {"duration_minutes", 60}}));
  clock_.set("2026-07-03T23:00:00Z");
  EXPECT_TRUE(work());
  EXPECT_EQ(state(made.id), State::completed);
  // Later than the window is open now, though within what it was booked for.
  auto late = must(jobs_.submit(carol_, {"cloud1:vm:deploy",
                                         machine({{"workgroup", "team-a"},
                                                  {"change_window_id", window_.id},
                                                  {"run_at", "2026-07-04T22:40"}}),
                                         ""}))
                  .jobs.at(0);
  must(windows_.update(root_, window_.id, {{"duration_minutes", 20}}));
  clock_.set("2026-07-04T22:55:00Z");
  expect_missed(late);
}

TEST_F(Claim, AJobWhoseWindowWasDeletedIsMissed) {
  auto made = booked();
  EXPECT_EQ(windows_.remove(root_, window_.id).error().code, Code::conflict) << "the API refuses it";
  sql("DELETE FROM change_windows WHERE id = $1", {window_.id});
  clock_.set("2026-07-03T23:00:00Z");
  expect_missed(made);
}

TEST_F(Claim, ABookingByTimeAloneIsBoundToTheRequiredWindow) {
  attach();
  auto made = change({{"run_at", "2026-07-04T01:30"}});
  EXPECT_EQ(made.change_window_id, window_.id);
  EXPECT_EQ(format_iso(*made.window_ends_at), "2026-07-04T02:00:00Z") << "not half an hour after it closed";
  must(windows_.update(root_, window_.id, {{"enabled", false}}));
  clock_.set("2026-07-04T01:30:00Z");
  expect_missed(made);
  must(workgroups_.update(root_, "team-a", {{"change_window_id", ""}}));
  auto free = change({{"run_at", "2026-07-04T10:00"}});
  EXPECT_EQ(free.change_window_id, std::nullopt);
  clock_.set("2026-07-04T10:00:00Z");
  EXPECT_TRUE(work());
  EXPECT_EQ(state(free.id), State::completed);
}

TEST_F(Claim, AMissedJobDoesNotHoldUpTheNext) {
  auto missed = booked();
  clock_.set("2026-07-03T23:00:00Z");
  auto next = deployed();
  must(windows_.update(root_, window_.id, {{"enabled", false}}));
  EXPECT_TRUE(work());
  EXPECT_EQ(state(missed.id), State::missed);
  EXPECT_EQ(state(next.id), State::completed);
}

// The clock a year ahead, and put right.

TEST_F(Claim, ALeaseOfAWrongClockIsOver) {
  clock_.advance(kYear);
  auto lost = deployed();
  must(Worker(deps_, executors_, "dead").claim());
  clock_.advance(-kYear);
  must(jobs_.sweep());
  EXPECT_EQ(state(lost.id), State::failed);
  EXPECT_EQ(job(lost.id).reason, "worker_lost");
}

TEST_F(Claim, ALeaseIsGoodForItsLengthAndFiveMinutes) {
  auto made = deployed();
  must(Worker(deps_, executors_, "alive").claim());
  clock_.advance(-minutes(5));
  must(jobs_.sweep());
  EXPECT_EQ(state(made.id), State::running);
  clock_.advance(-seconds(1));
  must(jobs_.sweep());
  EXPECT_EQ(state(made.id), State::failed);
}

TEST_F(Claim, ALongLeaseOutlivesAShorterSetting) {
  set("job_lease_seconds", "7200");
  auto made = deployed();
  must(Worker(deps_, executors_, "alive").claim());
  set("job_lease_seconds", "60");
  must(jobs_.sweep());
  EXPECT_EQ(state(made.id), State::running);
  // One of an older release has no length beside it.
  sql("UPDATE jobs SET lease_micros = NULL");
  must(jobs_.sweep());
  EXPECT_EQ(state(made.id), State::failed);
}

TEST_F(Claim, AClockThatWasBehindLosesNoJob) {
  clock_.advance(-kYear);
  auto made = deployed();
  clock_.advance(kYear);
  EXPECT_TRUE(work());
  EXPECT_EQ(state(made.id), State::completed);
}

TEST_F(Claim, ALivingWorkerRenewsAtOnceWhenTheClockIsPutBack) {
  auto started = scratch_ / "started", go = scratch_ / "go";
  must(write_file(scratch_ / "deploy/cloud1-vm-deploy",
                  "#!/bin/sh\ntouch " + started + "\nuntil [ -e " + go + " ]; do sleep 0.02; done\n", 0755));
  auto made = deployed();
  std::jthread runs([&] { must(Worker(deps_, executors_, "one").work(stop_)); });
  ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(started); }));
  clock_.advance(-kYear);
  auto lease = [&] {
    return must(db::read<std::int64_t>(*sql_, [&](db::Transaction& tx) -> Result<std::int64_t> {
      return TRY(tx.query("SELECT lease_until FROM jobs WHERE id = $1", {made.id}))[0].integer(0);
    }));
  };
  EXPECT_TRUE(wait_until([&] { return lease() <= to_micros(clock_.now() + minutes(2)); }));
  must(jobs_.sweep());
  EXPECT_EQ(state(made.id), State::running);
  must(write_file(go, "", 0600));
  runs.join();
  EXPECT_EQ(state(made.id), State::completed);
}

TEST_F(Claim, AnotherTryIsDueWhenAWrongClockPutItOff) {
  auto made = deployed();
  clock_.advance(kYear);
  gate_.engine_fails();
  EXPECT_TRUE(work());
  EXPECT_FALSE(work()) << "put off";
  clock_.advance(-kYear);
  gate_.allow();
  EXPECT_TRUE(work());
  EXPECT_EQ(state(made.id), State::completed);
}

TEST_F(Claim, AWindowThatAWrongClockSawOpenIsAskedAgain) {
  attach();
  clock_.set("2027-07-03T23:00:00Z");
  auto made = change();
  EXPECT_EQ(made.state, State::pending);
  clock_.set("2026-07-03T14:00:00Z");
  expect_missed(made);
}

TEST_F(Claim, ABookingKeepsItsTimeWhateverTheClockWas) {
  auto made = change({{"run_at", "2026-07-03T23:00"}});
  clock_.advance(-kYear);
  EXPECT_FALSE(work());
  EXPECT_EQ(state(made.id), State::scheduled);
  clock_.set("2026-07-03T23:00:00Z");
  EXPECT_TRUE(work());
  EXPECT_EQ(state(made.id), State::completed);
  auto missed = change({{"run_at", "2026-07-04T23:00"}});
  clock_.advance(kYear);
  EXPECT_FALSE(work());
  EXPECT_EQ(state(missed.id), State::missed);
  clock_.advance(-kYear);
  must(jobs_.reschedule(carol_, missed.id, {{"run_at", "2026-07-04T23:00"}}));
  EXPECT_EQ(state(missed.id), State::scheduled);
}

TEST_F(Claim, AWorkerSeenByAWrongClockIsNotAlive) {
  clock_.advance(kYear);
  must(jobs_.heartbeat("ghost", 4));
  must(jobs_.heartbeat("alive", 2));
  clock_.advance(-kYear);
  auto status = must(jobs_.worker_status(root_));
  EXPECT_EQ(status["configured"]["total"], 0) << dump_json(status);
  must(jobs_.heartbeat("alive", 2));
  status = must(jobs_.worker_status(root_));
  ASSERT_EQ(status["workers"].size(), 1u) << dump_json(status);
  EXPECT_EQ(status["configured"]["total"], 2);
  EXPECT_EQ(status["workers"][0]["started_at"], status["workers"][0]["seen_at"]);
  clock_.advance(-minutes(5));
  EXPECT_EQ(must(jobs_.worker_status(root_))["configured"]["total"], 2);
}

}  // namespace
}  // namespace dash::jobs
