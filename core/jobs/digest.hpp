// What an approval covers, as one value: the action, the request, the rule set, the run time, the window, and
// the plan where one was made.
// An approver may send the digest that they read. A digest starts with its version; one without a version is
// of an older release and covers no time.
#pragma once
#include "core/jobs/jobs.hpp"

namespace dash::jobs {

// Returns the digest of `job` as it is now and as it was decided, in the newest version.
std::string covered_digest(const Job& job, const policy::Decision& decision);
// Returns whether `job` still matches its digest, by the version of that digest.
bool is_covered(const Job& job, const policy::Decision& decision);
// Returns the digest of a batch: over all of its jobs. Empty when none of them has one.
std::string batch_digest(const std::vector<Job>& jobs);

}  // namespace dash::jobs
