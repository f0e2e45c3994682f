// The part of the jobs that a caller may see and asks for, as a condition in SQL: for lists and for events.
#pragma once
#include "core/jobs/jobs.hpp"

namespace dash::jobs {

// Conditions of a listing with their parameters.
struct JobFilter {
  std::string sql = "WHERE 1 = 1";
  db::Params params;
  // Adds a condition that names its value "${}".
  void add(std::string_view condition, db::Value value);
};

// Returns the caller's jobs; with jobs:read, or for an admin, all; for an approver also those that need an
// approval.
JobFilter filter_jobs(const Principal& principal, const JobQuery& query);

}  // namespace dash::jobs
