#include "core/jobs/machines.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "core/jobs/job_rows.hpp"
#include "core/policy/settings.hpp"

namespace dash::jobs {
namespace {

// A deploy that failed or was cancelled exists as long as its state holds resources. The module deploy writes
// that table.
constexpr std::string_view kExists =
    R"((state = 'completed'
        OR (state IN ('failed', 'cancelled')
            AND EXISTS (SELECT 1 FROM deploy_states d WHERE d.job_id = jobs.id AND d.resources > 0))))";

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

}  // namespace

Machine machine_of(const Job& deploy) {
  return {deploy.resource_id, policy::fold_region(deploy.region),
          policy::fold_region(string_member(deploy.request, "zone").value_or(""))};
}

bool has_resource_id_form(std::string_view cloud, std::string_view text) {
  auto id = lower(text);
  if (cloud == "cloud1")
    return id.size() > 2 && id.starts_with("i-") && std::ranges::all_of(id.substr(2), is_hex);
  if (cloud == "cloud2") return id.starts_with("/subscriptions/");
  // Also as the end of a URL of the cloud's API.
  if (cloud == "cloud3") return id.starts_with("projects/") || id.find("/projects/") != id.npos;
  if (cloud == "cloud4") return id.starts_with("ocid1.");
  return false;
}

Result<std::vector<Job>> existing_deploys(db::Transaction& tx, const std::string& action, FindBy by,
                                          const std::string& text) {
  std::string column = by == FindBy::resource_id ? "resource_id" : "name";
  // Sorted by number, not by time: the clock may have been wrong.
  auto rows =
      TRY(tx.query(kSelectJobs + "WHERE action = $1 AND " + column + " = $2 AND destroyed_by IS NULL AND " +
                       std::string(kExists) + " ORDER BY seq DESC",
                   {action, text}));
  std::vector<Job> out;
  for (const auto& row : rows) out.push_back(TRY(row_to_job(row)));
  return out;
}

Result<std::optional<std::string>> destroyed_by(db::Transaction& tx, const std::string& deploy_id) {
  auto rows = TRY(tx.query("SELECT destroyed_by FROM jobs WHERE id = $1", {deploy_id}));
  if (rows.empty() || rows[0].is_null(0)) return std::nullopt;
  return rows[0].text(0);
}

Result<void> mark_destroyed(db::Transaction& tx, const std::string& deploy_id, const std::string& by) {
  auto deploy = TRY(find_job(tx, deploy_id));
  if (!deploy) return {};
  std::vector<Job> gone;
  if (deploy->resource_id)
    gone = TRY(existing_deploys(tx, deploy->action, FindBy::resource_id, *deploy->resource_id));
  std::erase_if(gone, [&](const Job& job) { return machine_of(job) != machine_of(*deploy); });
  gone.push_back(*deploy);
  for (const auto& job : gone)
    TRY(tx.exec(
        R"(UPDATE jobs SET destroyed_by = $2
           WHERE id = $1 AND state IN ('completed', 'failed', 'cancelled') AND destroyed_by IS NULL)",
        {job.id, by}));
  return {};
}

}  // namespace dash::jobs
