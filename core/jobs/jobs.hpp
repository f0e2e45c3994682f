// Jobs: the only door to a gated change (submit), and everything that people do with a job afterwards.
// Authorisation, change windows, the gate and the audit log stand in here, so no route or command can forget
// them.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/audit/log.hpp"
#include "core/config/settings.hpp"
#include "core/jobs/booking.hpp"
#include "core/jobs/job.hpp"
#include "core/jobs/judge.hpp"
#include "core/jobs/plan.hpp"
#include "core/jobs/windows.hpp"

namespace dash::jobs {

inline constexpr std::string_view kReadJobs = "jobs:read";

// A deploy or provision: the body as parsed. A teardown: `target` is the id or name of the path, `body` its
// query as an object.
struct Submission {
  std::string action;  // either spelling
  Json body;
  std::string target;
};

struct Submitted {
  std::vector<Job> jobs;  // one, or all of a batch
};
// {job_id, status, message, count, batch_id, job_ids, names}
OrderedJson to_json(const Submitted& submitted);

inline constexpr std::int64_t kMaxPageSize = 100, kMaxPage = 1'000'000'000;

struct Listing {
  std::vector<State> states;  // empty: all
  std::optional<std::string> workgroup, batch_id;
  std::int64_t page = 1;
  std::int64_t page_size = 20;  // 1..100
};
struct JobPage {
  std::vector<Job> jobs;
  std::int64_t total = 0;
};

// {jobs, total, page, page_size}
OrderedJson to_json(const JobPage& page, const Listing& listing);

struct LogLine {
  std::int64_t n;
  Time at;
  std::string line;
};
// {logs: [{n, at, line}]}
OrderedJson to_json(const std::vector<LogLine>& lines);

// What an approval is for; `all` is whatever the job still waits for.
enum class Approve { all, policy, booking };

struct Approved {
  Job job;
  bool already = false;
};
// {job_id, status, approved_at, approved_by, already}
OrderedJson to_json(const Approved& approved);

// What this room stands on.
struct Seams {
  db::Sql& sql;
  const Clock& clock;
  config::Store& store;
  config::Settings& settings;
  audit::Log& audit;
  Judge& judge;
  Windows& windows;
};

class Jobs {
 public:
  explicit Jobs(Seams seams) : s_(seams) {}

  // validate → resolve defaults → change windows → gate → insert. A refusal is an Error with the body that
  // the spec fixes, and its audit entry is durable before this returns.
  Result<Submitted> submit(const identity::Principal& who, const Submission& submission);

  // Own jobs; with jobs:read or as admin all; whoever may approve also sees what waits for approval.
  Result<JobPage> list(const identity::Principal& who, const Listing& listing);
  Result<Job> show(const identity::Principal& who, const std::string& id);
  Result<std::vector<LogLine>> logs(const identity::Principal& who, const std::string& id,
                                    std::int64_t after);

  // Needs change_windows:use and somebody else than the requester. Code::invalid when nothing waits,
  // Code::conflict when the job has ended or the rules changed since it was asked for.
  Result<Approved> approve(const identity::Principal& who, const std::string& id, Approve what);
  Result<Job> reject(const identity::Principal& who, const std::string& id, const std::string& why);
  // Owner or admin. A running job is asked to stop; its state changes when it has.
  Result<Job> cancel(const identity::Principal& who, const std::string& id);

  // Moves what time moves: booked jobs to pending, what nobody approved to expired, what missed its window to
  // missed, jobs of dead workers to pending or failed. Idempotent; called every second by whoever serves.
  Result<void> sweep();

  const Seams& seams() const { return s_; }

 private:
  Seams s_;
};

// Shared by submit, approve and the worker.
// ------------------------------------------------------------------------------------

// When a job is to run: what the gate judges it for.
inline Time judged_at(const Job& job, Time now) {
  return job.run_at && *job.run_at > now ? *job.run_at : now;
}
Result<std::int64_t> approval_expiry_hours(const Seams& s);
// What an approval covers: (action, request, rule set). A change that no rule judges needs no engine for it.
Result<std::string> covered_digest(const Seams& s, const std::string& action, const Json& request,
                                   const policy::Decision& decision);
// Appends `<action>:denied` for a job that the rules refuse now, and cancels it with reason "policy".
Result<void> cancel_refused(const Seams& s, const Job& job, const policy::Decision& decision);
// The approval no longer covers what would run: back to waiting, with the new reasons.
Result<void> void_approval(const Seams& s, const Job& job, const policy::Decision& decision,
                           const std::string& digest);

}  // namespace dash::jobs
