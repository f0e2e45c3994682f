#include "core/storage/assets/migration_jobs.hpp"

#include "core/jobs/lease.hpp"

namespace dash::storage {
namespace {

// Returns whether the request of another migration names the same two backends.
bool is_same_pair(const Json& one, const Json& other) {
  auto pair = [](const Json& request) {
    auto source = string_member(request, "source").value_or("");
    auto target = string_member(request, "target").value_or("");
    return std::minmax({std::move(source), std::move(target)});
  };
  return pair(one) == pair(other);
}

bool is_same_work(const Json& one, const Json& other) {
  return one.at("source") == other.at("source") && one.at("target") == other.at("target") &&
         one.at("overwrite") == other.at("overwrite");
}

// Ends another migration of the pair whose process has died. Returns false when it may still run.
Result<bool> replace_lost(db::Transaction& tx, const jobs::Job& job, const std::string& other_id,
                          const Json& other_request, std::int64_t lease) {
  auto message = fmt::format("its process died, and job {} began after it", job.id);
  if (!TRY(jobs::fail_lost_job(tx, other_id, job.created_at, lease, message))) return false;
  if (is_same_work(job.request, other_request)) TRY(MigrationJournal::hand_over(tx, other_id, job.id));
  return true;
}

Result<void> check_alone(db::Transaction& tx, const jobs::Job& job, std::int64_t lease) {
  auto rows = TRY(tx.query(
      "SELECT id, request FROM jobs WHERE action = $1 AND state IN ('pending', 'running') AND id <> $2",
      {job.action, job.id}));
  for (const auto& row : rows) {
    auto request = TRY(parse_json(row.text(1)));
    if (!is_same_pair(request, job.request)) continue;
    if (TRY(replace_lost(tx, job, row.text(0), request, lease))) continue;
    return fail(Code::conflict,
                "job {} migrates between these two backends already; wait until it has ended, or cancel it "
                "with DELETE /api/jobs/{} (dashctl job cancel {})",
                row.text(0), row.text(0), row.text(0));
  }
  return {};
}

Failure not_completed(const jobs::Job& job) {
  if (!jobs::is_final(job.state))
    return fail(Code::conflict, "job {} goes on in another process; look at GET /api/jobs/{}", job.id,
                job.id);
  return fail(
      Code::conflict,
      "job {} was {} before every asset was copied; what was copied stays on the target. Migrate again "
      "for the rest",
      job.id, jobs::word(job.state));
}

}  // namespace

Result<MigrationJobs::Draft> MigrationJobs::draft(const Principal& principal, const MigrateRequest& request) {
  TRY(require_admin(principal));
  auto pair = TRY(open_two_backends(deps_.stores, principal, request.source, request.target));
  Draft out;
  out.job.action = kMigrateAction;
  out.job.name = fmt::format("{} to {}", pair.from.display_id(), pair.to.display_id());
  out.job.request = {{"source", pair.from.id()},
                     {"target", pair.to.id()},
                     {"overwrite", request.overwrite},
                     {"bwlimit", request.bytes_per_second}};
  out.parameters = out.job.request;
  jobs::note_requester(principal, out.parameters);
  auto lease = TRY(jobs::lease_micros(deps_.jobs.settings));
  out.on_insert = [this, principal, lease](db::Transaction& tx, const jobs::Job& job) -> Result<void> {
    TRY(check_alone(tx, job, lease));
    TRY(MigrationJournal::clear_ended(tx));
    OrderedJson details{{"job_id", job.id}};
    details.update(OrderedJson(job.request));
    TRY(deps_.audit.append(
        tx, audit::make_event(principal, "storage.migrate.begin", std::nullopt, std::move(details))));
    return {};
  };
  return out;
}

Result<OrderedJson> MigrationJobs::run(const Principal& principal, const MigrateRequest& request,
                                       const std::function<bool()>& is_abandoned,
                                       const jobs::OnProgress& on_progress) {
  if (request.is_dry_run) return to_json(TRY(deps_.migration.plan(principal, request)));
  auto draft = TRY(this->draft(principal, request));
  auto job = TRY(jobs::run_now(deps_.jobs, principal, std::move(draft.job), draft.parameters, draft.on_insert,
                               is_abandoned, on_progress));
  if (job.state != jobs::State::completed) return not_completed(job);
  return std::move(job.result);
}

Result<jobs::Job> MigrationJobs::enqueue(const Principal& principal, const MigrateRequest& request) {
  auto draft = TRY(this->draft(principal, request));
  return jobs::enqueue(deps_.jobs, principal, std::move(draft.job), draft.parameters, draft.on_insert);
}

jobs::RunnerEntry MigrationJobs::runner() {
  auto run = [this](const jobs::Job& job, const Json& parameters,
                    jobs::RunControl& control) -> Result<jobs::RunResult> {
    MigrateRequest request;
    request.source = parameters.at("source").get<std::string>();
    request.target = parameters.at("target").get<std::string>();
    request.overwrite = parameters.at("overwrite").get<bool>();
    request.bytes_per_second = parameters.at("bwlimit").get<std::uint64_t>();
    auto principal = TRY(jobs::admin_requester(deps_.directory, job, parameters));
    auto report = TRY(deps_.migration.run(principal, request, job.id, control));
    jobs::RunResult out;
    out.status = report.is_stopped ? jobs::RunStatus::stopped : jobs::RunStatus::done;
    out.result = to_json(report);
    return out;
  };
  return {run, jobs::OnWorkerLoss::requeue};
}

}  // namespace dash::storage
