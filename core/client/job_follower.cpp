#include "core/client/job_follower.hpp"

#include <thread>

namespace dash::client {
namespace {

constexpr std::chrono::milliseconds kPollInterval{250};
constexpr int kMaxPollFailures = 240;  // a minute

jobs::JobProgress progress_of(const Json& job) {
  jobs::JobProgress out;
  auto found = job.find("progress");
  if (found == job.end() || !found->is_object()) return out;
  out.bytes_done = found->value("bytes_done", out.bytes_done);
  out.bytes_total = found->value("bytes_total", out.bytes_total);
  out.items_done = found->value("items_done", out.items_done);
  out.items_total = found->value("items_total", out.items_total);
  return out;
}

}  // namespace

Result<bool> JobFollower::has_workers() {
  auto status = api_.get("/api/worker/status");
  if (!status && status.error().code == Code::not_found) return false;
  if (!status) return Failure(std::move(status).error());
  auto effective = status->find("effective");
  if (effective == status->end() || !effective->is_object()) return false;
  return effective->value("total", std::int64_t{0}) > 0;
}

Result<Json> JobFollower::wait(const std::string& job_id, std::string_view unfinished,
                               const std::function<void(const jobs::JobProgress&)>& on_progress) {
  {
    std::lock_guard lock(mutex_);
    job_id_ = job_id;
  }
  int failures = 0;
  for (;; std::this_thread::sleep_for(kPollInterval)) {
    auto job = api_.get("/api/jobs/" + net::percent_encode(job_id));
    if (!job && ++failures < kMaxPollFailures) continue;
    if (!job) return Failure(std::move(job).error().within(fmt::format("job {} may still run", job_id)));
    failures = 0;
    on_progress(progress_of(*job));
    auto status = string_member(*job, "status").value_or("");
    if (status == "completed") return job->value("result", Json(nullptr));
    auto state = jobs::parse_state(status);
    if (!state || !jobs::is_final(*state)) continue;
    if (*state == jobs::State::failed)
      return fail(Code::upstream, "job {} failed: {}", job_id,
                  string_member(*job, "error_message").value_or("no reason was given"));
    return fail(Code::conflict, "job {} was {}{}", job_id, status, unfinished);
  }
}

void JobFollower::cancel() {
  std::string job_id;
  {
    std::lock_guard lock(mutex_);
    job_id = job_id_;
  }
  // Without a job the instance sees that this process has ended.
  if (!job_id.empty()) std::ignore = api_.remove("/api/jobs/" + net::percent_encode(job_id));
}

}  // namespace dash::client
