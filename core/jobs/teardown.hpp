// Which machine a teardown means. Nothing is ever "not found" here: without a deploy job the gate still
// judges, with has_deploy_job false, and only admins get that far. What is judged, recorded and given to the
// executor is one resource id, zone and region.
#pragma once
#include "core/jobs/jobs.hpp"

namespace dash::jobs {

// Code::validation for a malformed zone or region of the query, Code::forbidden when one of the machines that
// may be meant is not of a workgroup of `principal`, Code::conflict when several are left.
Result<ResolvedDeploy> resolve_teardown(db::Transaction& tx, const Principal& principal, const Action& action,
                                        const Submission& submission);
Result<windows::ScheduleRequest> parse_schedule_request(const Json& body);

// ["body", "zone"] becomes ["query", "zone"]: a teardown's members stand in its query.
Error in_query(Error error);

}  // namespace dash::jobs
