// What an approval covers, as one value: the action, the request, the rule set, the run time and the window.
// Whoever approves or rejects may name the digest that he read. A digest starts with its version; one without
// a version was made by an older release and covers no time.
#pragma once
#include "core/jobs/jobs.hpp"

namespace dash::jobs {

// The digest of `job` as it is now and as it was judged, in the newest version.
std::string covered_digest(const Job& job, const policy::Decision& decision);
// Whether `job` is still what its digest says, judged by the version of that digest.
bool is_covered(const Job& job, const policy::Decision& decision);
// The digest of a batch: over all of its jobs. Empty when none of them has one.
std::string batch_digest(const std::vector<Job>& jobs);

}  // namespace dash::jobs
