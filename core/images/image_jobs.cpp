#include "core/images/image_jobs.hpp"

#include "core/jobs/lease.hpp"

namespace dash::images {
namespace {

// Two jobs are in each other's way when they would write the same object.
bool writes_the_same(const Json& one, const Json& other) {
  auto target = [](const Json& request) {
    return std::tuple(string_member(request, "operation"), string_member(request, "name"),
                      string_member(request, "cloud"));
  };
  return target(one) == target(other);
}

// A job whose process died where no server sweeps is in nobody's way.
Result<void> check_name_is_free(db::Transaction& tx, const jobs::Job& job, std::int64_t lease) {
  auto rows = TRY(tx.query(
      "SELECT id, request FROM jobs WHERE action = $1 AND state IN ('pending', 'running') AND id <> $2",
      {job.action, job.id}));
  auto lost = fmt::format("its process died, and job {} began after it", job.id);
  for (const auto& row : rows) {
    if (!writes_the_same(TRY(parse_json(row.text(1))), job.request)) continue;
    if (TRY(jobs::fail_lost_job(tx, row.text(0), job.created_at, lease, lost))) continue;
    return fail(Code::conflict,
                "job {} does this with '{}' already; wait until it has ended, or cancel it with DELETE "
                "/api/jobs/{} (dashctl job cancel {})",
                row.text(0), job.name, row.text(0), row.text(0));
  }
  return {};
}

Failure job_not_completed(const jobs::Job& job) {
  if (!jobs::is_final(job.state))
    return fail(Code::conflict, "job {} goes on in another process; look at GET /api/jobs/{}", job.id,
                job.id);
  return fail(Code::conflict, "job {} was {}; '{}' was not copied", job.id, jobs::word(job.state), job.name);
}

}  // namespace

Result<ImageJobs::Draft> ImageJobs::draft(const Principal& principal, const ImageRequest& request) {
  Draft out;
  OrderedJson parameters;
  if (const auto* place = std::get_if<PlaceRequest>(&request)) {
    parameters = TRY(placing_.check(principal, *place));
    out.job.request = {{"operation", "place"},
                       {"name", place->name},
                       {"source", {{"backend", parameters["backend"]}, {"key", place->key}}}};
  } else {
    const auto& promote = std::get<PromoteRequest>(request);
    parameters = TRY(promotion_.check(principal, promote));
    out.job.request = {{"operation", "promote"}, {"name", promote.name}, {"cloud", parameters["cloud"]}};
  }
  out.job.action = kImageAction;
  out.job.name = parameters["name"].get<std::string>();
  out.parameters = parameters;
  out.parameters["operation"] = out.job.request.at("operation");
  jobs::note_requester(principal, out.parameters);
  auto lease = TRY(jobs::lease_micros(jobs_.settings));
  out.on_insert = [this, principal, lease](db::Transaction& tx, const jobs::Job& job) -> Result<void> {
    TRY(check_name_is_free(tx, job, lease));
    OrderedJson details{{"job_id", job.id}};
    details.update(OrderedJson(job.request));
    auto action = fmt::format("image.{}.begin", job.request.at("operation").get<std::string>());
    TRY(audit_.append(tx, audit::make_event(principal, action, job.name, std::move(details))));
    return {};
  };
  return out;
}

Result<jobs::Job> ImageJobs::enqueue(const Principal& principal, const ImageRequest& request) {
  auto draft = TRY(this->draft(principal, request));
  return jobs::enqueue(jobs_, principal, std::move(draft.job), draft.parameters, draft.on_insert);
}

Result<OrderedJson> ImageJobs::run(const Principal& principal, const ImageRequest& request,
                                   const std::function<bool()>& is_abandoned,
                                   const jobs::OnProgress& on_progress) {
  auto draft = TRY(this->draft(principal, request));
  auto job = TRY(jobs::run_now(jobs_, principal, std::move(draft.job), draft.parameters, draft.on_insert,
                               is_abandoned, on_progress));
  if (job.state != jobs::State::completed) return job_not_completed(job);
  return std::move(job.result);
}

jobs::RunnerEntry ImageJobs::runner() {
  auto run = [this](const jobs::Job& job, const Json& parameters,
                    jobs::RunControl& control) -> Result<jobs::RunResult> {
    auto principal = TRY(jobs::admin_requester(directory_, job, parameters));
    auto result = parameters.at("operation") == "place" ? placing_.run(principal, job, parameters, control)
                                                        : promotion_.run(principal, job, parameters, control);
    jobs::RunResult out;
    if (!result && result.error().code == Code::interrupted) {
      out.status = jobs::RunStatus::stopped;
      return out;
    }
    out.result = TRY(std::move(result));
    out.status = jobs::RunStatus::done;
    return out;
  };
  return {run, jobs::OnWorkerLoss::requeue};
}

}  // namespace dash::images
