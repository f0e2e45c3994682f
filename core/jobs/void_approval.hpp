// Changes a job when the rules changed under its approval.
#pragma once
#include "core/jobs/jobs.hpp"

namespace dash::jobs {

// Reads the setting approval_expiry_hours; from 1 hour to ten years.
Result<std::int64_t> approval_expiry_hours(config::Settings& settings);
// Appends `<action>:denied` for a job that the rules refuse now, and cancels it with reason "policy".
Result<void> cancel_denied(const Deps& deps, const Job& job, const policy::Decision& decision);
// Returns a job whose approval no longer covers it to waiting, with the new reasons and digest.
Result<void> void_approval(const Deps& deps, const Job& job, const policy::Decision& decision);

}  // namespace dash::jobs
