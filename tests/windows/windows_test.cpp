#include "core/windows/windows.hpp"

#include "tests/support/accounts.hpp"
#include "tests/windows/booking_fixture.hpp"

namespace dash::jobs {
namespace {

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

}  // namespace
}  // namespace dash::jobs
