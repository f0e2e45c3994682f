// Workgroups with change windows, and changes that are scheduled into them.
#pragma once
#include "tests/support/accounts.hpp"
#include "tests/support/jobs_fixture.hpp"

namespace dash::jobs {

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

}  // namespace dash::jobs
