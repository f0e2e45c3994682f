// Jobs: submit() is the only way to a gated change; the other functions act on jobs. Authorisation, change
// windows, the gate and the audit log are part of them, so that no route or command can forget them.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/audit/log.hpp"
#include "core/config/clouds.hpp"
#include "core/config/settings.hpp"
#include "core/jobs/job.hpp"
#include "core/jobs/module_variables.hpp"
#include "core/jobs/runner.hpp"
#include "core/policy/gate.hpp"
#include "core/windows/windows.hpp"

namespace dash::jobs {

inline constexpr std::string_view kReadJobs = "jobs:read";

// One request. For a deploy or provision `body` is the parsed body. For a teardown `target` is the id or name
// of the path, and `body` its query as an object.
struct Submission {
  std::string action;  // either spelling
  Json body;
  std::string target;
  bool is_bulk = false;  // the body's `items` are the machines
};

struct SubmitResult {
  std::vector<Job> jobs;  // one, or all of a batch
};
// {job_id, status, message, count, batch_id, job_ids, names, scheduled_for}
// The job_id of a batch is the batch's.
OrderedJson to_json(const SubmitResult& result);

inline constexpr std::int64_t kMaxPageSize = 100, kMaxPage = 1'000'000'000;

struct JobQuery {
  std::vector<State> states;  // empty: all
  std::optional<std::string> workgroup, batch_id;
  bool is_scheduled = false;  // only jobs that were scheduled for a time
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
// {n, at, line}
OrderedJson to_json(const LogLine& line);
// {logs: [{n, at, line}]}
OrderedJson to_json(const std::vector<LogLine>& lines);

// Lines of a log with the state that the job had before they were read.
struct LogPage {
  std::vector<LogLine> lines;
  State state = State::pending;
  bool is_last = true;  // there are no more lines
};

// What an approval is for; `all` is everything that the job still waits for, but never a plan.
enum class ApprovalKind { all, policy, booking, plan };

struct ApproveResult {
  Job job;
  bool was_already_approved = false;
};
// {job_id, status, approved_at, approved_by, already}
OrderedJson to_json(const ApproveResult& result);

// What Jobs and its workers are given.
class PostDeployRuns;
struct Deps {
  db::Sql& sql;
  const Clock& clock;
  config::EncryptedStore& store;
  config::Settings& settings;
  audit::Log& audit;
  policy::Gate& gate;
  windows::Windows& windows;
  const Runners& runners;
  const ModuleCatalog* modules = nullptr;  // nullptr: other members of deploy bodies are parameters
  PostDeployRuns* post_deploy = nullptr;   // nullptr: nothing can follow a deploy
};

class Jobs {
 public:
  explicit Jobs(Deps deps) : deps_(deps) {}

  // Submits a change: validate → resolve defaults → change windows → gate → insert. A refusal is an Error
  // with the body of the API; its audit entry is durable before this returns.
  Result<SubmitResult> submit(const Principal& principal, const Submission& submission);

  // Here and below the id of a batch means all of its jobs. A batch is returned as one job, and a change
  // applies to each of its jobs that allows it.

  // Returns the caller's jobs; with jobs:read, or for an admin, all; for an approver also those that await
  // approval.
  Result<JobPage> list(const Principal& principal, const JobQuery& query);
  Result<Job> show(const Principal& principal, const std::string& id);
  Result<std::vector<LogLine>> logs(const Principal& principal, const std::string& id, std::int64_t after);
  // Returns lines and state of one moment: of an ended job whose page is the last there is nothing to wait for.
  Result<LogPage> log_page(const Principal& principal, const std::string& id, std::int64_t after);

  //   {batch_id, total, by_status: {pending, running, completed, failed, cancelled}}
  // of the jobs that the caller may read. A waiting job counts as pending, one that will not run any more as
  // cancelled. An unknown batch has none.
  Result<OrderedJson> count_batch(const Principal& principal, const std::string& id);

  // Needs change_windows:use and a user who neither requested nor rescheduled the job. `digest` is the
  // approval_digest that the approver read; without one only a job that is as it was submitted is approved.
  // While a plan waits, ApprovalKind::plan and the digest are both needed. All of a batch or none of it.
  // Code::invalid when nothing needs an approval, Code::conflict for another digest, and when the job has ended
  // or the rules changed since it was submitted.
  Result<ApproveResult> approve(const Principal& principal, const std::string& id,
                                ApprovalKind what = ApprovalKind::all,
                                const std::optional<std::string>& digest = {});
  // Needs change_windows:use and another user than the requester. Code::conflict for another digest.
  Result<Job> reject(const Principal& principal, const std::string& id, const std::string& why,
                     const std::optional<std::string>& digest = {});
  // Cancels a job, for its owner or an admin. A running job gets a stop request, and its state changes when
  // it has stopped.
  Result<Job> cancel(const Principal& principal, const std::string& id);
  // Reschedules a job, for its owner or an admin. `body` is that of a scheduled change; blank: now. Evaluates
  // windows and gate again and drops the approvals. Code::conflict once it has begun, and for a cancelled or
  // rejected job.
  Result<Job> reschedule(const Principal& principal, const std::string& id, const Json& body);

  // Returns how this instance writes actions on output: the setting cloud_names.
  Result<config::NameStyle> name_style();

  // Records that a process runs jobs.
  Result<void> heartbeat(const std::string& owner, std::size_t threads);
  //   {configured: {total}, effective: {total}, clamp_reason: null, running,
  //    workers: [{owner, threads, started_at, seen_at, alive}]}
  // or {never_run: true} when no process ever ran jobs. Admins only.
  Result<OrderedJson> worker_status(const Principal& principal);

  // Makes the transitions of time: due jobs to pending, unapproved ones to expired, those whose window closed
  // to missed, jobs of dead workers to pending or failed. Idempotent; the server calls it every second.
  Result<void> sweep();

 private:
  Result<Job> cancel_job(const Principal& principal, const std::string& id);
  Result<Job> reschedule_job(const Principal& principal, const std::string& id, const Json& body);
  Deps deps_;
};

}  // namespace dash::jobs
