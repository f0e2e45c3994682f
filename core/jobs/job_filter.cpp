#include "core/jobs/job_filter.hpp"

namespace dash::jobs {

void JobFilter::add(std::string_view condition, db::Value value) {
  params.emplace_back(std::move(value));
  sql += fmt::format(fmt::runtime(condition), params.size());
}

JobFilter filter_jobs(const Principal& principal, const JobQuery& query) {
  JobFilter out;
  if (!principal.has_permission(kReadJobs)) {
    bool approver = principal.has_permission(kUseChangeWindows);
    out.add(approver ? " AND (created_by = ${} OR needs_policy_approval = 1 OR needs_booking_approval = 1 "
                       "OR needs_plan_approval = 1)"
                     : " AND created_by = ${}",
            principal.username);
  }
  if (query.workgroup) out.add(" AND workgroup = ${}", *query.workgroup);
  if (query.batch_id) out.add(" AND batch_id = ${}", *query.batch_id);
  if (query.is_scheduled) out.sql += " AND run_at IS NOT NULL";
  if (query.states.empty()) return out;
  std::string states;
  for (auto state : query.states) states += fmt::format("{}'{}'", states.empty() ? "" : ", ", word(state));
  out.sql += fmt::format(" AND state IN ({})", states);
  return out;
}

}  // namespace dash::jobs
