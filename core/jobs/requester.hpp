// In whose name a runner works: a job may wait long, and its requester may lose the right meanwhile.
#pragma once
#include "core/base/principal.hpp"
#include "core/identity/directory.hpp"
#include "core/jobs/job.hpp"

namespace dash::jobs {

// Notes in the parameters of a job whether it is made on the instance's own machine. They are sealed; the name
// of the job's maker is not enough, since an account can have the operator's name.
void note_requester(const Principal& principal, Json& parameters);
// Returns the job's requester as an admin. Code::forbidden when that is no active administrator any more.
Result<Principal> admin_requester(identity::Directory& directory, const Job& job, const Json& parameters);

}  // namespace dash::jobs
