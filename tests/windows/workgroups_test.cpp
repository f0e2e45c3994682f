#include "core/windows/workgroups.hpp"

#include "tests/support/accounts.hpp"
#include "tests/windows/booking_fixture.hpp"

namespace dash::jobs {
namespace {

TEST_F(Booking, AWorkgroupKeepsWhatItWasNotTold) {
  auto window = nights();
  EXPECT_EQ(workgroups_.update(root_, "team-a", {{"require_change_window", true}}).error().code,
            Code::invalid);
  EXPECT_TRUE(must(workgroups_.update(root_, "team-a", {{"change_window_id", window.id}})).requires_window);
  auto loose = must(workgroups_.update(root_, "team-a", {{"require_change_window", false}}));
  EXPECT_EQ(loose.window_name, "nights");
  EXPECT_TRUE(change());
}

TEST_F(Booking, AWorkgroupHasANameForPeople) {
  EXPECT_EQ(must(workgroups_.get("team-a")).display_name, "team-a");
  EXPECT_EQ(must(workgroups_.create(root_, {{"name", "Shop"}, {"display_name", " The shop "}})).display_name,
            "The shop");
  EXPECT_EQ(must(workgroups_.update(root_, "shop", {{"description", "tills"}})).display_name, "The shop");
  EXPECT_EQ(must(workgroups_.update(root_, "shop", {{"display_name", "Tills"}})).display_name, "Tills");
  EXPECT_EQ(workgroups_.update(root_, "shop", {{"display_name", " "}}).error().code, Code::invalid);
  EXPECT_EQ(must(workgroups_.get("shop")).display_name, "Tills");
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
