#include "core/jobs/changes.hpp"

#include "core/db/change_watcher.hpp"
#include "core/jobs/job_filter.hpp"
#include "core/jobs/job_rows.hpp"

namespace dash::jobs {
namespace {

// Of a page that a stream holds until its client has taken it: a slow client must not cost megabytes.
constexpr std::int64_t kPageJobs = 20;

}  // namespace

// The newest number and the jobs are of one snapshot: what comes later has a larger number.
Result<JobChanges> list_changes(db::Sql& sql, const Principal& principal, std::int64_t after) {
  auto filter = filter_jobs(principal, {});
  filter.add(" AND change_number > ${}", after);
  auto query = fmt::format("SELECT id, change_number FROM jobs {} ORDER BY change_number LIMIT {}",
                           filter.sql, kPageJobs);
  return db::read<JobChanges>(sql, [&](db::Transaction& tx) -> Result<JobChanges> {
    JobChanges out;
    out.last = TRY(db::newest_change(tx));
    out.is_last = true;
    for (const auto& row : TRY(tx.query(query, filter.params))) {
      auto job = TRY(get_job(tx, row.text(0)));
      out.jobs.push_back({row.integer(1), std::move(job)});
    }
    out.is_last = std::ssize(out.jobs) < kPageJobs;
    if (!out.is_last) out.last = out.jobs.back().number;
    return out;
  });
}

}  // namespace dash::jobs
