// Finds the machine that a teardown means. It never fails with "not found": without a deploy job the gate
// still evaluates, with has_deploy_job false, and only admins are admitted. The evaluated, recorded and
// executed request has one resource id, zone and region.
#pragma once
#include "core/jobs/jobs.hpp"
#include "core/jobs/resolve_deploy.hpp"

namespace dash::jobs {

// Code::validation for a malformed zone or region of the query, Code::forbidden when a machine that may be
// meant is not of a workgroup of `principal`, Code::conflict when several are left.
Result<ResolvedDeploy> resolve_teardown(db::Transaction& tx, const Principal& principal, const Action& action,
                                        const Submission& submission);

// Changes ["body", "zone"] to ["query", "zone"], because a teardown's members are in its query.
Error in_query(Error error);

}  // namespace dash::jobs
