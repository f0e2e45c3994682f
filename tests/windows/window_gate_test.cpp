#include "core/windows/window_gate.hpp"

#include "tests/windows/booking_fixture.hpp"

namespace dash::jobs {
namespace {

TEST_F(Booking, OutsideOfTheWindowAChangeIsRefusedWithAnOfferAndWithoutTheGate) {
  auto window = nights();
  attach(window);
  auto refused = change();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::change_window);
  auto body = *refused.error().body;
  EXPECT_EQ(body["error"], "change_window");
  EXPECT_EQ(body["reasons"][0],
            "team-a may only be changed during nights (every day 22:00–02:00 (+1d) (UTC), 4h). The next "
            "window opens 2026-07-03 "
            "22:00 UTC.");
  EXPECT_EQ(body["schedule"], OrderedJson({{"change_window_id", window.id},
                                           {"window_name", "nights"},
                                           {"next_start", "2026-07-03T22:00:00Z"},
                                           {"next_end", "2026-07-04T02:00:00Z"}}));
  EXPECT_EQ(audited().back(), "cloud1:vm:deploy:denied");
  EXPECT_TRUE(gate_.calls.empty());
  EXPECT_EQ(count_jobs(), 0);
}

// What the gate knows of a workgroup is kept between two changes, and no longer than until an edit.
TEST_F(Booking, AnEditOfTheWindowOrTheWorkgroupCountsForTheNextChange) {
  auto window = nights();
  attach(window);
  ASSERT_FALSE(change());
  must(windows_.update(root_, window.id, {{"start_at_local", "13:00"}}));
  EXPECT_TRUE(change()) << "the window is open now";
  must(windows_.update(root_, window.id, {{"start_at_local", "22:00"}}));
  EXPECT_EQ(change().error().code, Code::change_window);
  must(workgroups_.update(root_, "team-a", {{"require_change_window", false}}));
  EXPECT_TRUE(change({{"name", "web2"}}));
  must(workgroups_.update(root_, "team-a", {{"require_change_window", true}}));
  EXPECT_EQ(change().error().code, Code::change_window);
}

TEST_F(Booking, ARequiredWindowThatIsDisabledIsNotOffered) {
  auto window = nights();
  attach(window);
  must(windows_.update(root_, window.id, {{"enabled", false}}));
  for (const auto& refused : {change(), change({{"run_at", "2026-07-03T23:00"}})}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::change_window);
    EXPECT_TRUE(refused.error().body->at("schedule").is_null());
    EXPECT_NE(refused.error().message.find("disabled"), std::string::npos);
  }
  EXPECT_EQ(change({{"change_window_id", window.id}}).error().code, Code::invalid);
  EXPECT_EQ(count_jobs(), 0);
}

TEST_F(Booking, TheOfferIsGoodAndJudgedForItsTime) {
  auto window = nights();
  attach(window);
  auto job = must(change({{"change_window_id", window.id}})).jobs.at(0);
  EXPECT_EQ(job.state, State::scheduled);
  EXPECT_EQ(format_iso(gate_.calls.at(0).at), "2026-07-03T22:00:00Z");
  must(jobs_.sweep());
  EXPECT_EQ(state(job.id), State::scheduled);
  clock_.set("2026-07-03T22:00:00Z");
  must(jobs_.sweep());
  EXPECT_EQ(state(job.id), State::pending);
  clock_.set("2026-07-04T02:00:00Z");
  must(jobs_.sweep());
  EXPECT_EQ(state(job.id), State::missed);
}

TEST_F(Booking, InsideOfTheWindowAChangeRunsUntilItCloses) {
  attach(nights());
  clock_.set("2026-07-03T23:00:00Z");
  auto job = must(change()).jobs.at(0);
  EXPECT_EQ(job.state, State::pending);
  EXPECT_EQ(format_iso(*job.window_ends_at), "2026-07-04T02:00:00Z");
}

TEST_F(Booking, AnActionThatIsNotListedIsUntouched) {
  attach(nights());
  set("admission_gated_actions", "k8s:provision");
  EXPECT_TRUE(change());
  set("admission_gated_actions", "[broken");
  EXPECT_EQ(change().error().code, Code::change_window);
}

TEST_F(Booking, AnotherWindowOrAnotherTimeDoesNotDo) {
  auto window = nights();
  attach(window);
  auto mornings = must(
      windows_.create(root_, {{"name", "mornings"}, {"start_at_local", "06:00"}, {"duration_minutes", 60}}));
  EXPECT_EQ(change({{"change_window_id", mornings.id}}).error().code, Code::change_window);
  EXPECT_EQ(change({{"run_at", "2026-07-04T12:00"}}).error().code, Code::change_window);
  EXPECT_TRUE(change({{"run_at", "2026-07-04T23:30"}}));
}

}  // namespace
}  // namespace dash::jobs
