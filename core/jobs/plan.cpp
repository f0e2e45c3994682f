#include "core/jobs/plan.hpp"

#include "core/base/text.hpp"
#include "core/jobs/job.hpp"

namespace dash::jobs {
namespace {

std::string plan_context(const std::string& job_id) { return "job plan " + job_id; }

constexpr std::string_view kStalePlans =
    R"(FROM job_plans WHERE job_id NOT IN
         (SELECT id FROM jobs WHERE state IN ('awaiting_approval', 'scheduled', 'pending', 'running')))";

}  // namespace

std::string summary(const PlanChanges& changes) {
  return fmt::format("{} to add, {} to change, {} to destroy", changes.add, changes.change, changes.destroy);
}

Result<void> check_plan_approval(std::string_view key, std::string_view text) {
  auto mode = lower(trim(text));
  if (mode == "off" || mode == "changes" || mode == "always") return {};
  return fail(Code::invalid, "{} is off, changes or always, not '{}'", key, trim(text));
}

Result<bool> needs_approval(config::Settings& settings, const PlanChanges& changes) {
  auto mode = lower(trim(TRY(settings.text(std::string(kPlanApprovalKey)))));
  if (mode.empty() || mode == "off") return false;
  if (mode == "changes") return changes.change + changes.destroy > 0;
  return true;
}

Result<std::optional<Plan>> approved_plan(db::Sql& sql, const config::EncryptedStore& store, const Job& job) {
  if (!job.needs_plan_approval || !job.plan_approval) return std::nullopt;
  return db::read<std::optional<Plan>>(sql, [&](db::Transaction& tx) -> Result<std::optional<Plan>> {
    auto rows = TRY(tx.query("SELECT basis, plan FROM job_plans WHERE job_id = $1", {job.id}));
    if (rows.empty())
      return fail(Code::integrity, "the approved plan of job {} has gone; submit the change again", job.id);
    auto basis = TRY(parse_json(rows[0].text(0)));
    auto bytes = TRY(store.open(plan_context(job.id), rows[0].blob(1)));
    return Plan{job.plan_digest, "", std::move(bytes), std::move(basis)};
  });
}

Result<void> store_plan(db::Transaction& tx, const config::EncryptedStore& store, const std::string& job_id,
                        const Plan& plan) {
  TRY(remove_plan(tx, job_id));
  TRY(tx.exec("INSERT INTO job_plans (job_id, basis, plan) VALUES ($1, $2, $3)",
              {job_id, dump_json(plan.basis), db::Blob{store.seal(plan_context(job_id), plan.bytes)}}));
  return {};
}

Result<void> remove_plan(db::Transaction& tx, const std::string& job_id) {
  TRY(tx.exec("DELETE FROM job_plans WHERE job_id = $1", {job_id}));
  return {};
}

Result<bool> has_stale_plans(db::Transaction& tx) {
  return !TRY(tx.query(fmt::format("SELECT 1 {} LIMIT 1", kStalePlans))).empty();
}

Result<void> remove_stale_plans(db::Transaction& tx) {
  TRY(tx.exec(fmt::format("DELETE {}", kStalePlans)));
  return {};
}

}  // namespace dash::jobs
