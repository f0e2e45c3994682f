// A batch: several machines that were asked for at once. It has no row of its own: it is what its jobs are,
// so that a crash can strand neither it nor them. Under its id it is shown, cancelled, approved and rejected
// as one job.
#pragma once
#include "core/jobs/jobs.hpp"

namespace dash::jobs {

// Its jobs in the order in which they were named; empty when there is no such batch.
Result<std::vector<Job>> find_batch(db::Transaction& tx, const std::string& id);
// The batch as one job, of the type <cloud>:…:bulk_deploy. `jobs` is not empty.
Job summarize_batch(const std::vector<Job>& jobs);

// Code::not_found when it is neither.
Result<Job> get_job_or_batch(db::Transaction& tx, const std::string& id);

// Does `fn` to the job, or to each job of the batch, that `filter` picks; to the first when it picks none, so
// that it says why. The batch as it is afterwards.
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

// Code::conflict {"code": "vm_name_collision", message, conflicts, duplicates, names} when a name stands
// twice among these jobs, or a machine of that name stands or is on its way.
Result<void> check_name_collisions(db::Transaction& tx, const std::vector<Job>& jobs);

}  // namespace dash::jobs
