// Jobs: the only door to a gated change (submit), and everything that people do with a job afterwards.
// Authorisation, change windows, the gate and the audit log stand in here, so no route or command can forget
// them.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/audit/log.hpp"
#include "core/config/clouds.hpp"
#include "core/config/settings.hpp"
#include "core/jobs/job.hpp"
#include "core/jobs/judge.hpp"
#include "core/jobs/resolve_deploy.hpp"
#include "core/windows/schedule.hpp"
#include "core/windows/windows.hpp"

namespace dash::jobs {

inline constexpr std::string_view kReadJobs = "jobs:read";

// A deploy or provision: the body as parsed. A teardown: `target` is the id or name of the path, `body` its
// query as an object.
struct Submission {
  std::string action;  // either spelling
  Json body;
  std::string target;
  bool is_bulk = false;  // the body's `items` are the machines
};

struct SubmitResult {
  std::vector<Job> jobs;  // one, or all of a batch
};
// {job_id, status, message, count, batch_id, job_ids, names, scheduled_for}; the job_id of a batch is the
// batch's.
OrderedJson to_json(const SubmitResult& result);

inline constexpr std::int64_t kMaxPageSize = 100, kMaxPage = 1'000'000'000;

struct JobQuery {
  std::vector<State> states;  // empty: all
  std::optional<std::string> workgroup, batch_id;
  bool is_scheduled = false;  // only what was booked for a time
  std::int64_t page = 1;
  std::int64_t page_size = 20;  // 1..100
};
struct JobPage {
  std::vector<Job> jobs;
  std::int64_t total = 0;
};

// {jobs, total, page, page_size}
OrderedJson to_json(const JobPage& page, const JobQuery& query,
                    config::NameStyle style = config::NameStyle::canonical);

struct LogLine {
  std::int64_t n;
  Time at;
  std::string line;
};
// {logs: [{n, at, line}]}
OrderedJson to_json(const std::vector<LogLine>& lines);

// What an approval is for; `all` is whatever the job still waits for.
enum class ApprovalKind { all, policy, booking };

struct ApproveResult {
  Job job;
  bool was_already_approved = false;
};
// {job_id, status, approved_at, approved_by, already}
OrderedJson to_json(const ApproveResult& result);

// What this room stands on.
struct Deps {
  db::Sql& sql;
  const Clock& clock;
  config::EncryptedStore& store;
  config::Settings& settings;
  audit::Log& audit;
  Judge& judge;
  windows::Windows& windows;
};

class Jobs {
 public:
  explicit Jobs(Deps deps) : deps_(deps) {}

  // validate → resolve defaults → change windows → gate → insert. A refusal is an Error with the body of the
  // API, and its audit entry is durable before this returns.
  Result<SubmitResult> submit(const Principal& principal, const Submission& submission);

  // The id of a batch names all of its jobs, here and below: it is shown as one, and what is asked of it is
  // asked of each that it can be asked of.

  // Own jobs; with jobs:read or as admin all; whoever may approve also sees what waits for approval.
  Result<JobPage> list(const Principal& principal, const JobQuery& query);
  Result<Job> show(const Principal& principal, const std::string& id);
  Result<std::vector<LogLine>> logs(const Principal& principal, const std::string& id, std::int64_t after);

  // {batch_id, total, by_status: {pending, running, completed, failed, cancelled}} of the jobs that the asker
  // may see: what waits counts as pending, what nobody runs any more as cancelled. An unknown batch has none.
  Result<OrderedJson> count_batch(const Principal& principal, const std::string& id);

  // Needs change_windows:use and somebody who neither requested nor rescheduled the job. `digest` is the
  // approval_digest that the approver read; without one only a job that is as it was submitted is approved.
  // All of a batch or none of it. Code::invalid when nothing needs an approval, Code::conflict for another
  // digest, and when the job has ended or the rules changed since it was submitted.
  Result<ApproveResult> approve(const Principal& principal, const std::string& id,
                                ApprovalKind what = ApprovalKind::all,
                                const std::optional<std::string>& digest = {});
  // Needs change_windows:use and somebody else than the requester. Code::conflict for another digest.
  Result<Job> reject(const Principal& principal, const std::string& id, const std::string& why,
                     const std::optional<std::string>& digest = {});
  // Owner or admin. A running job is asked to stop; its state changes when it has.
  Result<Job> cancel(const Principal& principal, const std::string& id);
  // Owner or admin; `body` as a booking's, blank: now. Asks windows and gate again, forgets what was
  // approved. Code::conflict once it has begun, and for what was cancelled or rejected.
  Result<Job> reschedule(const Principal& principal, const std::string& id, const Json& body);

  // How this instance writes actions on output: the setting cloud_names.
  Result<config::NameStyle> name_style();

  // A process that runs jobs says so now and then.
  Result<void> heartbeat(const std::string& owner, std::size_t threads);
  // {configured: {total}, effective: {total}, clamp_reason: null, running, workers: [{owner, threads,
  // started_at, seen_at, alive}]}, or {never_run: true} when no process ever ran jobs. Admins only.
  Result<OrderedJson> worker_status(const Principal& principal);

  // Moves what time moves: booked jobs to pending, what nobody approved to expired, what missed its window to
  // missed, jobs of dead workers to pending or failed. Idempotent; called every second by whoever serves.
  Result<void> sweep();

  const Deps& deps() const { return deps_; }

 private:
  Result<Job> cancel_job(const Principal& principal, const std::string& id);
  Result<Job> reschedule_job(const Principal& principal, const std::string& id, const Json& body);
  Deps deps_;
};

// Shared by submit, approve and the worker.
// ------------------------------------------------------------------------------------

// When a job is to run: what the gate judges it for.
inline Time evaluation_time(const Job& job, Time now) {
  return job.run_at && *job.run_at > now ? *job.run_at : now;
}
Result<std::int64_t> approval_expiry_hours(const Deps& deps);
// Appends `<action>:denied` for a job that the rules refuse now, and cancels it with reason "policy".
Result<void> cancel_denied(const Deps& deps, const Job& job, const policy::Decision& decision);
// The approval no longer covers what would run: back to waiting, with the new reasons and digest.
Result<void> void_approval(const Deps& deps, const Job& job, const policy::Decision& decision);

}  // namespace dash::jobs
