// What is torn down: the newest completed deploy of that name or id tells its region and workgroup. Nothing
// is ever "not found" here: without a deploy job the gate still judges, with has_deploy_job false, and only
// admins get that far.
#pragma once
#include "core/jobs/jobs.hpp"

namespace dash::jobs {

Result<Plan> plan_teardown(db::Transaction& tx, const identity::Principal& who, const Action& action,
                           const Submission& submission, const ReadText& setting);
Result<BookingRequest> booking_of(const Json& body);

}  // namespace dash::jobs
