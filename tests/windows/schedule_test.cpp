#include "tests/support/accounts.hpp"
#include "tests/support/jobs_fixture.hpp"

namespace dash::jobs {
namespace {

// Now is Friday 2026-07-03 14:00 UTC.
class Booking : public JobsFixture {
 protected:
  Booking() { set("admission_gated_actions", "aws:ec2:deploy"); }
  windows::Window nights(const Json& more = Json::object()) {
    Json body = {{"name", "nights"}, {"start_at_local", "22:00"}, {"duration_minutes", 240}};
    body.update(more);
    return must(windows_.create(root_, body));
  }
  void attach(const windows::Window& window) {
    must(workgroups_.update(root_, "team-a", {{"change_window_id", window.id}}));
  }
  Result<SubmitResult> change(Json more = Json::object()) {
    more["workgroup"] = "team-a";
    return deploy_as(carol_, machine(more));
  }
};

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

TEST_F(Booking, ATimeIsLocalUnlessItSaysOtherwise) {
  auto at = [&](std::string run_at, std::string zone) {
    return format_iso(*deployed(machine({{"run_at", run_at}, {"run_timezone", zone}})).run_at);
  };
  EXPECT_EQ(at("2026-07-04T10:00", "America/New_York"), "2026-07-04T14:00:00Z");
  EXPECT_EQ(at("2026-07-04T10:00Z", "America/New_York"), "2026-07-04T10:00:00Z");
  EXPECT_EQ(at("2026-07-04T10:00:00+02:00", ""), "2026-07-04T08:00:00Z");
  EXPECT_EQ(at("2026-07-04T10:00", ""), "2026-07-04T10:00:00Z");
}

TEST_F(Booking, NonsenseIsRefused) {
  auto window = nights();
  auto disabled = must(windows_.create(
      root_, {{"name", "never"}, {"start_at_local", "06:00"}, {"duration_minutes", 60}, {"enabled", false}}));
  for (const Json& more :
       {Json{{"run_at", "2026-07-03T13:00"}}, Json{{"run_at", "2029-07-03T13:00"}},
        Json{{"run_at", "tomorrow"}}, Json{{"run_at", "2026-07-04T10:00"}, {"run_timezone", "Mars/Base"}},
        Json{{"change_window_id", "nope"}}, Json{{"change_window_id", disabled.id}},
        Json{{"change_window_id", window.id}, {"run_at", "2026-07-04T10:00"}}})
    EXPECT_EQ(deploy(machine(more)).error().code, Code::invalid) << dump_json(more);
}

// A zone's name ends at a NUL for whoever reads it as C does.
TEST_F(Booking, AZoneWithAControlCharacterIsRefused) {
  for (const auto& zone : {std::string("UTC\0x", 5), std::string("UTC\0", 4),
                           std::string("UT\x01"
                                       "C")}) {
    auto booked = deploy(machine({{"run_at", "2026-07-04T10:00"}, {"run_timezone", zone}}));
    ASSERT_FALSE(booked);
    EXPECT_EQ(booked.error().code, Code::validation);
    EXPECT_EQ(booked.error().body->at(0)["loc"], OrderedJson({"body", "run_timezone"}));
    auto torn = jobs_.submit(
        root_, {"cloud1:vm:destroy", {{"run_at", "2026-07-04T10:00"}, {"run_timezone", zone}}, "i-1"});
    ASSERT_FALSE(torn);
    EXPECT_EQ(torn.error().body->at(0)["loc"], OrderedJson({"query", "run_timezone"}));
    auto made = windows_.create(
        root_, {{"name", "z"}, {"start_at_local", "06:00"}, {"duration_minutes", 60}, {"timezone", zone}});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, Code::validation);
    EXPECT_EQ(windows_
                  .update(root_, nights({{"name", "n" + std::to_string(must(windows_.list()).size())}}).id,
                          {{"timezone", zone}})
                  .error()
                  .code,
              Code::validation);
  }
  EXPECT_TRUE(deploy(machine({{"run_at", "2026-07-04T10:00"}, {"run_timezone", " Europe/Berlin "}})));
}

TEST_F(Booking, WindowsAreEditedByTheirPermissionAndAudited) {
  EXPECT_EQ(windows_.create(alice_, {{"name", "x"}}).error().code, Code::forbidden);
  auto writer = user("dave", {"change_windows:write"});
  auto window =
      must(windows_.create(writer, {{"name", "x"}, {"start_at_local", "06:00"}, {"duration_minutes", 60}}));
  EXPECT_EQ(windows_.create(writer, {{"name", "x"}, {"start_at_local", "06:00"}, {"duration_minutes", 60}})
                .error()
                .code,
            Code::conflict);
  EXPECT_EQ(windows_.create(writer, {{"name", "y"}}).error().code, Code::validation);
  EXPECT_EQ(must(windows_.update(writer, window.id, {{"duration_minutes", 90}})).start, "06:00");
  EXPECT_EQ(windows_.update(writer, window.id, {{"duration_minutes", 0}}).error().code, Code::invalid);
  EXPECT_EQ(windows_.update(writer, "nope", {{"duration_minutes", 9}}).error().code, Code::not_found);
  attach(window);
  EXPECT_EQ(windows_.remove(writer, window.id).error().code, Code::conflict);
  must(workgroups_.update(root_, "team-a", {{"change_window_id", ""}}));
  must(windows_.remove(writer, window.id));
  EXPECT_EQ(audited().back(), "change_window_delete");
}

TEST_F(Booking, AWorkgroupKeepsWhatItWasNotTold) {
  auto window = nights();
  EXPECT_EQ(workgroups_.update(root_, "team-a", {{"require_change_window", true}}).error().code,
            Code::invalid);
  EXPECT_TRUE(must(workgroups_.update(root_, "team-a", {{"change_window_id", window.id}})).requires_window);
  auto loose = must(workgroups_.update(root_, "team-a", {{"require_change_window", false}}));
  EXPECT_EQ(loose.window_name, "nights");
  EXPECT_TRUE(change());
}

TEST_F(Booking, AWorkgroupInUseStays) {
  add_account(*sql_, directory_, {"carol", Secret("correct horse"), false, {}, {"team-b"}});
  EXPECT_EQ(workgroups_.remove(root_, "team-b").error().code, Code::conflict);
  must(workgroups_.remove_member(root_, "team-b", "carol"));
  must(workgroups_.remove(root_, "team-b"));
  attach(nights());
  EXPECT_EQ(workgroups_.remove(root_, "team-a").error().code, Code::conflict);
  must(workgroups_.update(root_, "team-a", {{"change_window_id", ""}}));
  auto job = must(change()).jobs.at(0);
  EXPECT_EQ(workgroups_.remove(root_, "team-a").error().code, Code::conflict);
  must(jobs_.cancel(carol_, job.id));
  must(workgroups_.remove(root_, "team-a"));
  EXPECT_EQ(workgroups_.remove(alice_, "team-a").error().code, Code::forbidden);
}

}  // namespace
}  // namespace dash::jobs
