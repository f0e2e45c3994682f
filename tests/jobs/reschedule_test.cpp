#include "core/jobs/worker.hpp"
#include "tests/support/jobs_fixture.hpp"

namespace dash::jobs {
namespace {

using Strings = std::vector<std::string>;

class Reschedule : public JobsFixture {
 protected:
  Result<Job> move(const std::string& id, const Json& body = Json::object()) {
    return jobs_.reschedule(alice_, id, body);
  }
  static Json at(std::string_view time) { return {{"run_at", time}}; }
};

TEST_F(Reschedule, MovesABookingAndRecordsIt) {
  auto id = deployed(machine(at("2026-07-04T10:00"))).id;
  auto moved = must(move(id, at("2026-07-05T10:00")));
  EXPECT_EQ(moved.state, State::scheduled);
  EXPECT_EQ(
      dump_json(schedule_json(moved)),
      R"({"job_id":")" + id +
          R"(","status":"scheduled","scheduled_for":"2026-07-05T10:00:00Z","window_ends_at":"2026-07-05T11:00:00Z","schedule_state":"scheduled"})");
  EXPECT_EQ(audited(), Strings{"change_rescheduled"});
  EXPECT_EQ(gate_.calls.back().at, must(parse_iso("2026-07-05T10:00:00Z")));
  EXPECT_EQ(gate_.calls.back().actor.username, "alice");
  auto now = must(move(id));
  EXPECT_EQ(now.state, State::pending);
  EXPECT_FALSE(now.run_at);
  EXPECT_FALSE(now.window_ends_at);
}

TEST_F(Reschedule, GivesAMissedOrExpiredJobAnotherChance) {
  auto missed = deployed(machine(at("2026-07-04T10:00"))).id;
  gate_.hold("big");
  auto expired = deployed().id;
  clock_.set("2026-07-08T10:00:00Z");
  must(jobs_.sweep());
  ASSERT_EQ(state(missed), State::missed);
  ASSERT_EQ(state(expired), State::expired);
  EXPECT_EQ(must(move(expired)).state, State::awaiting_approval);
  gate_.allow();
  auto again = must(move(missed, at("2026-07-09T10:00")));
  EXPECT_EQ(again.state, State::scheduled);
  EXPECT_FALSE(again.reason);
  EXPECT_FALSE(again.completed_at);
  EXPECT_EQ(again.message, "");
}

TEST_F(Reschedule, ForgetsWhatWasApproved) {
  gate_.hold("big");
  auto id = deployed().id;
  must(jobs_.approve(bob_, id, ApprovalKind::all));
  ASSERT_EQ(state(id), State::pending);
  auto moved = must(move(id, at("2026-07-04T10:00")));
  EXPECT_EQ(moved.state, State::awaiting_approval);
  EXPECT_FALSE(moved.policy_approval);
  EXPECT_EQ(audited().back(), "change_rescheduled");
  EXPECT_EQ(must(jobs_.approve(bob_, id, ApprovalKind::all, moved.approval_digest)).job.state,
            State::scheduled);
}

TEST_F(Reschedule, AsksTheRulesAgainAndLeavesWhatTheyRefuse) {
  auto id = deployed(machine(at("2026-07-04T10:00"))).id;
  gate_.deny("frozen");
  auto refused = move(id, at("2026-07-05T10:00"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(dump_json(*refused.error().body), R"({"error":"policy","reasons":["frozen"]})");
  EXPECT_EQ(audited(), Strings{"cloud1:vm:deploy:denied"});
  EXPECT_EQ(job(id).run_at, must(parse_iso("2026-07-04T10:00:00Z")));
  gate_.engine_fails();
  EXPECT_EQ(move(id).error().code, Code::policy_unavailable);
  EXPECT_EQ(state(id), State::scheduled);
}

TEST_F(Reschedule, AsksTheWindowAgain) {
  auto window = must(windows_.create(
      root_,
      {{"name", "nights"}, {"start_at_local", "02:00"}, {"duration_minutes", 60}, {"timezone", "UTC"}}));
  must(workgroups_.update(root_, "team-a", {{"change_window_id", window.id}}));
  set("admission_gated_actions", "cloud1:vm:deploy");
  auto id =
      must(deploy_as(carol_, machine({{"workgroup", "team-a"}, {"change_window_id", window.id}}))).jobs[0].id;
  auto now = jobs_.reschedule(carol_, id, Json::object());
  ASSERT_FALSE(now);
  EXPECT_EQ(now.error().code, Code::change_window);
  EXPECT_EQ(jobs_.reschedule(carol_, id, at("2026-07-04T12:00")).error().code, Code::change_window);
  EXPECT_TRUE(jobs_.reschedule(carol_, id, at("2026-07-05T02:30")));
  EXPECT_EQ(jobs_.reschedule(carol_, id, {{"change_window_id", "nothing"}}).error().code, Code::invalid);
  EXPECT_EQ(jobs_.reschedule(carol_, id, {{"run_at", 7}}).error().code, Code::validation);
}

TEST_F(Reschedule, IsForItsRequesterAndForAdminsWhileItHasNotBegun) {
  auto id = deployed().id;
  EXPECT_EQ(jobs_.reschedule(bob_, id, Json::object()).error().code, Code::forbidden);
  EXPECT_TRUE(jobs_.reschedule(root_, id, at("2026-07-04T10:00")));
  EXPECT_EQ(gate_.calls.back().actor.username, "alice");
  EXPECT_EQ(move("nothing").error().code, Code::not_found);
  must(jobs_.cancel(alice_, id));
  EXPECT_EQ(move(id).error().code, Code::conflict);
}

TEST_F(Reschedule, CannotHoldAMachineOfABatchForTheRules) {
  auto made = must(deploy(machine({{"count", 2}})));
  gate_.hold("big");
  EXPECT_EQ(move(made.jobs[0].id).error().code, Code::needs_approval);
  gate_.allow();
  EXPECT_EQ(must(move(*made.jobs[0].batch_id, at("2026-07-04T10:00"))).state, State::scheduled);
  EXPECT_EQ(state(made.jobs[1].id), State::scheduled);
}

}  // namespace
}  // namespace dash::jobs
