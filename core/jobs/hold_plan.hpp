// Puts a running job whose plan must be approved before the approvers.
#pragma once
#include "core/jobs/plan.hpp"
#include "core/jobs/running_job.hpp"

namespace dash::jobs {

// running → awaiting_approval, without a lease, with the plan sealed and an approval digest that covers it.
// `decision` is what the gate decided when the job was claimed. A job that was cancelled meanwhile is cancelled
// instead. Does nothing when another process owns the job by now.
Result<void> hold_plan(const Deps& deps, const Job& job, const RunningJob& running, const Plan& plan,
                       const policy::Decision& decision);

}  // namespace dash::jobs
