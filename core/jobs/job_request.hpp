// A change on its way to being submitted or rescheduled. submit() and reschedule() check it against the
// change windows and the gate.
#pragma once
#include "core/jobs/jobs.hpp"
#include "core/jobs/resolve_deploy.hpp"
#include "core/windows/schedule.hpp"

namespace dash::jobs {

struct JobRequest {
  const Action* action;
  const Principal& principal;  // the caller, as the audit log names it
  policy::Actor actor;         // the user whose change it is
  ResolvedDeploy resolved;
  std::optional<windows::TimeRange> time_range;
  Time now;
  std::vector<policy::Decision> decisions{};  // one an item
  bool needs_policy_approval = false;
  bool needs_booking_approval = false;

  Time run_time() const { return time_range ? std::max(time_range->start, now) : now; }
  bool is_scheduled() const { return time_range && time_range->start > now; }
  bool needs_approval() const { return needs_policy_approval || needs_booking_approval; }
  State first_state() const;
};

// Returns the time range that `body` requests, with the instance's grace.
Result<std::optional<windows::TimeRange>> requested_time_range(const Deps& deps, const Json& body, Time now);

// Checks change windows, then the gate, then whether the schedule needs an approval. A refusal is an Error
// with the body of the API; its audit entry is durable before this returns.
Result<void> authorize(const Deps& deps, JobRequest& request);

// Copies the run time and the window of `request` to `job`.
void set_times(const JobRequest& request, Job& job);
// Returns the digest that an approval of `job` covers, for item `i` with its times set; empty when it needs
// none.
std::string digest_of(const JobRequest& request, const Job& job, std::size_t i);
std::string receipt_of(const policy::Decision& decision);
// Returns the entry <action>:<what> about item `i`.
audit::Event audit_entry(const JobRequest& request, std::size_t i, std::string_view what,
                         OrderedJson details);

}  // namespace dash::jobs
