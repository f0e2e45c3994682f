// Jobs that later modules make: no rule gates them, and a runner of this binary does their work.
#pragma once
#include <functional>

#include "core/jobs/jobs.hpp"

namespace dash::jobs {

// Called in the transaction that makes the job, to write the audit entry and to check what must hold at that
// moment. After a failure there is no job.
using OnInsert = std::function<Result<void>(db::Transaction& tx, const Job& job)>;

// Called with each progress that a runner reports.
using OnProgress = std::function<void(const JobProgress& progress)>;

// Makes a pending job that any worker of the instance runs. `job` has action, name, request and what else is
// shown; the rest is filled in.
Result<Job> enqueue(const Deps& deps, const Principal& principal, Job job, const Json& parameters,
                    const OnInsert& on_insert);

// Makes the job and runs it in this thread, also where no worker runs jobs. Returns the job when it has
// ended. It is cancelled when `is_abandoned` returns true. When this process dies, the job is put back or
// failed like any other.
Result<Job> run_now(const Deps& deps, const Principal& principal, Job job, const Json& parameters,
                    const OnInsert& on_insert, const std::function<bool()>& is_abandoned = {},
                    const OnProgress& on_progress = {});

// Ends the running job `job_id` as failed if its lease is over, or if the process of run_now() that holds it
// has died: where no server sweeps, nobody else does. Returns false when the job is not lost. `lease` is
// lease_micros().
Result<bool> fail_lost_job(db::Transaction& tx, const std::string& job_id, Time now, std::int64_t lease,
                           const std::string& message);

}  // namespace dash::jobs
