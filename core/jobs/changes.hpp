// The jobs that changed since a follower looked last, for GET /api/events.
#pragma once
#include "core/jobs/jobs.hpp"

namespace dash::jobs {

// A job as it is now, with the number of its last change that lists show (schema/037_changes.sql).
struct JobChange {
  std::int64_t number = 0;
  Job job;
};
struct JobChanges {
  std::vector<JobChange> jobs;  // ascending by number
  std::int64_t last = 0;        // number up to which this is all
  bool is_last = true;          // there are no newer ones
};

// Returns a page of the jobs of Jobs::list() that changed after number `after`.
Result<JobChanges> list_changes(db::Sql& sql, const Principal& principal, std::int64_t after);

}  // namespace dash::jobs
