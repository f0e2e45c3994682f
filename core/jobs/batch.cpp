#include "core/jobs/batch.hpp"

#include <algorithm>
#include <set>

#include "core/jobs/actions.hpp"
#include "core/jobs/digest.hpp"
#include "core/jobs/job_rows.hpp"

namespace dash::jobs {
namespace {

// The state of a batch is the first of these that any of its jobs has; without any the batch is completed.
constexpr State kStatePrecedence[] = {State::running,   State::pending, State::awaiting_approval,
                                      State::scheduled, State::failed,  State::missed,
                                      State::rejected,  State::expired, State::cancelled};

std::size_t count_of(const std::vector<Job>& jobs, State state) {
  return static_cast<std::size_t>(std::ranges::count(jobs, state, &Job::state));
}

State state_of(const std::vector<Job>& jobs) {
  for (auto state : kStatePrecedence) {
    if (count_of(jobs, state) == 0) continue;
    bool begun = std::ranges::any_of(jobs, [](const Job& j) { return j.started_at.has_value(); });
    return state == State::pending && begun ? State::running : state;
  }
  return State::completed;
}

// The hosts and warnings of all; the other details are those of single jobs.
OrderedJson batch_details(const std::vector<Job>& jobs) {
  OrderedJson out = OrderedJson::object();
  for (const auto& job : jobs)
    for (const char* member : {"hosts", "warnings"})
      if (job.details.contains(member))
        for (const auto& one : job.details[member]) out[member].push_back(one);
  return out;
}

// Counts the jobs that have ended; each is one host's.
JobProgress progress_of(const std::vector<Job>& jobs) {
  auto done = std::ranges::count_if(jobs, [](const Job& job) { return is_final(job.state); });
  return {.items_done = static_cast<std::uint64_t>(done), .items_total = jobs.size()};
}

std::string message_of(const std::vector<Job>& jobs) {
  std::string out;
  for (int i = 0; i <= static_cast<int>(State::missed); ++i)
    if (auto n = count_of(jobs, static_cast<State>(i)); n > 0)
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", n, word(static_cast<State>(i)));
  return out;
}

std::string join_names(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

Failure name_collision(const std::vector<std::string>& conflicts, const std::vector<std::string>& duplicates,
                       const std::vector<std::string>& names) {
  auto message = conflicts.empty()
                     ? fmt::format("given twice: {}", join_names(duplicates))
                     : fmt::format("there are machines of these names: {}", join_names(conflicts));
  OrderedJson body{{"code", "vm_name_collision"},
                   {"message", message},
                   {"conflicts", conflicts},
                   {"duplicates", duplicates},
                   {"names", names}};
  return Failure(Error{.code = Code::conflict,
                       .message = message,
                       .body = std::make_shared<const OrderedJson>(std::move(body))});
}

}  // namespace

Result<std::vector<Job>> find_batch(db::Transaction& tx, const std::string& id) {
  std::vector<Job> out;
  for (const auto& row : TRY(tx.query(kSelectJobs + "WHERE batch_id = $1 ORDER BY seq", {id})))
    out.push_back(TRY(row_to_job(row)));
  return out;
}

Result<Job> get_job_or_batch(db::Transaction& tx, const std::string& id) {
  if (auto jobs = TRY(find_batch(tx, id)); !jobs.empty()) return summarize_batch(jobs);
  return get_job(tx, id);
}

Job summarize_batch(const std::vector<Job>& jobs) {
  auto out = jobs.front();
  auto names = Json::array();
  for (const auto& job : jobs) {
    names.push_back(job.name);
    if (job.started_at && (!out.started_at || *job.started_at < *out.started_at))
      out.started_at = job.started_at;
    if (job.completed_at && (!out.completed_at || *job.completed_at > *out.completed_at))
      out.completed_at = job.completed_at;
  }
  out.id = *out.batch_id;
  if (out.action == kAutomationRun)
    out.progress = to_json(progress_of(jobs));
  else
    out.action = out.action.substr(0, out.action.rfind(':') + 1) + "bulk_deploy";
  out.name = fmt::format("{} and {} more", out.name, jobs.size() - 1);
  if (jobs.size() == 1) out.name = jobs.front().name;
  out.request = {{"count", jobs.size()}, {"batch", true}, {"names", names}};
  out.approval_digest = batch_digest(jobs);
  out.resource_id.reset();
  out.exit_status.reset(), out.signal.reset();
  out.details = batch_details(jobs);
  out.reason.reset();
  out.error.reset();
  out.state = state_of(jobs);
  out.message = message_of(jobs);
  if (!is_final(out.state)) out.completed_at.reset();
  if (out.state == State::failed) out.error = out.message;
  return out;
}

Result<void> check_name_collisions(db::Transaction& tx, const std::vector<Job>& jobs) {
  std::vector<std::string> names, conflicts, duplicates;
  std::set<std::string> seen;
  for (const auto& job : jobs) {
    names.push_back(job.name);
    if (!seen.insert(job.name).second) {
      if (std::ranges::find(duplicates, job.name) == duplicates.end()) duplicates.push_back(job.name);
      continue;
    }
    auto taken = TRY(tx.query(R"(SELECT 1 FROM jobs
                                 WHERE action = $1 AND name = $2 AND destroyed_by IS NULL
                                   AND (state IN ('awaiting_approval', 'scheduled', 'pending', 'running',
                                                  'completed')
                                        OR id IN (SELECT job_id FROM deploy_states WHERE resources > 0))
                                 LIMIT 1)",
                              {job.action, job.name}));
    if (!taken.empty()) conflicts.push_back(job.name);
  }
  if (conflicts.empty() && duplicates.empty()) return {};
  return name_collision(conflicts, duplicates, names);
}

}  // namespace dash::jobs
