// A change on its way to being a job, or to being booked anew: what submit() and reschedule() put through the
// change windows and the gate.
#pragma once
#include "core/jobs/jobs.hpp"

namespace dash::jobs {

struct Draft {
  const Action* action;
  const Principal& who;  // asks, and stands in the audit log
  policy::Actor actor;   // whose change it is
  Plan plan;
  std::optional<windows::Slot> slot;
  Time now;
  std::vector<policy::Decision> decisions{};  // one an item
  bool held_by_policy = false;
  bool held_by_booking = false;

  Time at() const { return slot ? std::max(slot->start, now) : now; }
  bool booked() const { return slot && slot->start > now; }
  bool held() const { return held_by_policy || held_by_booking; }
  State first_state() const;
};

// The booking that `body` asks for, with the instance's grace.
Result<std::optional<windows::Slot>> slot_of(const Seams& s, const Json& body, Time now);

// Change windows, then the gate, then whether a booking has to be approved. A refusal is an Error with the
// body that the spec fixes, and its audit entry is durable before this returns.
Result<void> pass(const Seams& s, Draft& draft);

// Gives `job` the run time and the window of `draft`.
void set_times(const Draft& draft, Job& job);
// What an approval of `job`, item `i` with its times set, covers; empty when it needs none.
std::string digest_of(const Draft& draft, const Job& job, std::size_t i);
std::string receipt_of(const policy::Decision& decision);
// <action>:<what> about item `i`.
audit::Entry entry_of(const Draft& draft, std::size_t i, std::string_view what, OrderedJson details);

}  // namespace dash::jobs
