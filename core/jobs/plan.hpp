// The plan of a deploy or destroy that must be approved before it is applied. A runner makes the plan, asks
// needs_approval(), and returns it with RunStatus::plan_waits: the job then awaits an approval without a lease,
// and the plan lies sealed in the database. Once it is approved a worker claims the job again, on any replica,
// and the runner finds the plan by approved_plan(): it applies exactly that one, or fails.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/json.hpp"
#include "core/config/encrypted_store.hpp"
#include "core/config/settings.hpp"
#include "core/db/sql.hpp"

namespace dash::jobs {

struct Job;

inline constexpr std::size_t kMaxPlanBytes = 16 * 1024 * 1024;  // of a plan that can wait

struct Plan {
  std::string digest;   // that of the job's `plan`
  std::string summary;  // "1 to add, 0 to change, 0 to destroy"
  std::string bytes;    // the program's file
  Json basis;           // what it was made from (the state's serial, …), for the runner to compare
};

// What a plan does to what exists.
struct PlanChanges {
  std::int64_t add = 0, change = 0, destroy = 0;
};
// "1 to add, 0 to change, 0 to destroy"
std::string summary(const PlanChanges& changes);

inline constexpr std::string_view kPlanApprovalKey = "deploy_plan_approval";
// Code::invalid for a value that is none of off, changes, always.
Result<void> check_plan_approval(std::string_view key, std::string_view text);
// Returns whether the setting deploy_plan_approval demands an approval of this plan: off (default) never,
// changes when it updates or deletes something, always. Another value counts as always.
Result<bool> needs_approval(config::Settings& settings, const PlanChanges& changes);

// Returns the approved plan of a claimed job; nullopt when it has none and makes its own. Code::integrity when
// the job's plan cannot be read.
Result<std::optional<Plan>> approved_plan(db::Sql& sql, const config::EncryptedStore& store, const Job& job);

// Stores the plan of a job in place of an older one.
Result<void> store_plan(db::Transaction& tx, const config::EncryptedStore& store, const std::string& job_id,
                        const Plan& plan);
// Removes the plan of a job that will not apply it.
Result<void> remove_plan(db::Transaction& tx, const std::string& job_id);
// Returns whether there are plans of jobs that have ended, and removes them.
Result<bool> has_stale_plans(db::Transaction& tx);
Result<void> remove_stale_plans(db::Transaction& tx);

}  // namespace dash::jobs
