// A batch: several machines that were asked for at once. It has no row of its own: it is what its jobs are,
// so that a crash can strand neither it nor them. Under its id it is shown, cancelled, approved and rejected
// as one job.
#pragma once
#include "core/jobs/jobs.hpp"

namespace dash::jobs {

// Its jobs in the order in which they were named; empty when there is no such batch.
Result<std::vector<Job>> find_batch(db::Transaction& tx, const std::string& id);
// The batch as one job, of the type <cloud>:…:bulk_deploy. `jobs` is not empty.
Job as_one(const std::vector<Job>& jobs);

// Code::not_found when it is neither.
Result<Job> need_job_or_batch(db::Transaction& tx, const std::string& id);

// Does `one` to the job, or to each job of the batch, that `meant` picks; to the first when it picks none, so
// that it says why. The batch as it is afterwards.
template <class Meant, class One>
Result<Job> each_of(const Seams& s, const std::string& id, Meant meant, One one) {
  auto read = [&] {
    return db::read<std::vector<Job>>(s.sql, [&](db::Transaction& tx) { return find_batch(tx, id); });
  };
  auto jobs = TRY(read());
  if (jobs.empty()) return one(id);
  auto first = jobs.front().id;
  std::erase_if(jobs, [&](const Job& job) { return !meant(job); });
  if (jobs.empty()) return one(first);
  for (const auto& job : jobs) TRY(one(job.id));
  return as_one(TRY(read()));
}

// Code::conflict {"code": "vm_name_collision", message, conflicts, duplicates, names} when a name stands
// twice among these jobs, or a machine of that name stands or is on its way.
Result<void> refuse_taken_names(db::Transaction& tx, const std::vector<Job>& jobs);

}  // namespace dash::jobs
