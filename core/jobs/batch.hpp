// A batch: several machines of one request. It has no row of its own. It is made of its jobs, so that a crash
// can strand neither. Its id works like a job's: to show, cancel, approve and reject all of them.
#pragma once
#include "core/jobs/jobs.hpp"

namespace dash::jobs {

// Returns its jobs in the order of the request; empty when there is no such batch.
Result<std::vector<Job>> find_batch(db::Transaction& tx, const std::string& id);
// Returns the batch as one job, of the type <cloud>:…:bulk_deploy. `jobs` is not empty.
Job summarize_batch(const std::vector<Job>& jobs);

// Code::not_found when the id names neither.
Result<Job> get_job_or_batch(db::Transaction& tx, const std::string& id);

// Calls `fn` for the job, or for each job of the batch that `filter` accepts. When it accepts none, calls
// `fn` for the first, whose error then explains why. Returns the batch afterwards.
template <class Filter, class Fn>
Result<Job> for_each_job(const Deps& deps, const std::string& id, Filter filter, Fn fn) {
  auto read = [&] {
    return db::read<std::vector<Job>>(deps.sql, [&](db::Transaction& tx) { return find_batch(tx, id); });
  };
  auto jobs = TRY(read());
  if (jobs.empty()) return fn(id);
  auto first = jobs.front().id;
  std::erase_if(jobs, [&](const Job& job) { return !filter(job); });
  if (jobs.empty()) return fn(first);
  for (const auto& job : jobs) TRY(fn(job.id));
  return summarize_batch(TRY(read()));
}

// Code::conflict {"code": "vm_name_collision", message, conflicts, duplicates, names} when two of these jobs
// have one name, or a machine of that name exists or is being made.
Result<void> check_name_collisions(db::Transaction& tx, const std::vector<Job>& jobs);

}  // namespace dash::jobs
