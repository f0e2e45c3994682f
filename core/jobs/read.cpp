// Lists, shows and cancels jobs.
#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/jobs/actions.hpp"
#include "core/jobs/batch.hpp"
#include "core/jobs/job_filter.hpp"
#include "core/jobs/job_rows.hpp"
#include "core/jobs/lease.hpp"

namespace dash::jobs {
namespace {

constexpr std::int64_t kLogPageLines = 1000;  // lines of a page
// Of a page that a stream holds until its client has taken it: a slow client must not cost megabytes.
constexpr std::int64_t kStreamPageLines = 100;

bool can_see_all(const Principal& principal) { return principal.has_permission(kReadJobs); }

Result<void> check_visible(const Principal& principal, const Job& job) {
  bool approver = principal.has_permission(kUseChangeWindows) && job.needs_any_approval();
  if (can_see_all(principal) || principal.username == job.created_by || approver) return {};
  return fail(Code::forbidden, "Requires '{}' permission.", kReadJobs);
}

// Returns the log of a batch: a line for each job, with the id under which its log is.
std::vector<LogLine> batch_log_lines(const std::vector<Job>& jobs, std::int64_t after) {
  std::vector<LogLine> out;
  for (std::size_t i = static_cast<std::size_t>(std::max<std::int64_t>(after, 0)); i < jobs.size(); ++i)
    out.push_back(
        {static_cast<std::int64_t>(i) + 1, jobs[i].created_at,
         fmt::format("{}: {}, see the log of job {}", jobs[i].name, word(jobs[i].state), jobs[i].id)});
  return out;
}

Result<LogPage> read_log(db::Sql& sql, const Principal& principal, const std::string& id, std::int64_t after,
                         std::int64_t max_lines) {
  return db::read<LogPage>(sql, [&](db::Transaction& tx) -> Result<LogPage> {
    auto job = TRY(get_job_or_batch(tx, id));
    TRY(check_visible(principal, job));
    LogPage out{{}, job.state, true};
    if (job.id == job.batch_id) {
      out.lines = batch_log_lines(TRY(find_batch(tx, id)), after);
      return out;
    }
    auto rows = TRY(tx.query(
        fmt::format("SELECT n, at, line FROM job_logs WHERE job_id = $1 AND n > $2 ORDER BY n LIMIT {}",
                    max_lines),
        {id, after}));
    for (const auto& row : rows)
      out.lines.push_back({row.integer(0), from_micros(row.integer(1)), row.text(2)});
    out.is_last = std::ssize(out.lines) < max_lines;
    return out;
  });
}

}  // namespace

Result<JobPage> Jobs::list(const Principal& principal, const JobQuery& query) {
  if (query.page < 1 || query.page > kMaxPage || query.page_size < 1 || query.page_size > kMaxPageSize)
    return fail(Code::invalid, "page is 1 to {} and page_size is 1 to {}", kMaxPage, kMaxPageSize);
  auto where = filter_jobs(principal, query);
  return db::read<JobPage>(deps_.sql, [&](db::Transaction& tx) -> Result<JobPage> {
    JobPage out;
    out.total = TRY(tx.query("SELECT count(*) FROM jobs " + where.sql, where.params))[0].integer(0);
    auto rows = TRY(tx.query(fmt::format("{}{} ORDER BY seq DESC LIMIT {} OFFSET {}", kSelectJobs, where.sql,
                                         query.page_size, (query.page - 1) * query.page_size),
                             where.params));
    for (const auto& row : rows) out.jobs.push_back(TRY(row_to_job(row)));
    return out;
  });
}

Result<Job> Jobs::show(const Principal& principal, const std::string& id) {
  return db::read<Job>(deps_.sql, [&](db::Transaction& tx) -> Result<Job> {
    auto job = TRY(get_job_or_batch(tx, id));
    TRY(check_visible(principal, job));
    return job;
  });
}

Result<OrderedJson> Jobs::count_batch(const Principal& principal, const std::string& id) {
  auto jobs =
      TRY(db::read<std::vector<Job>>(deps_.sql, [&](db::Transaction& tx) { return find_batch(tx, id); }));
  std::erase_if(jobs, [&](const Job& job) { return !check_visible(principal, job); });
  OrderedJson by_status{{"pending", 0}, {"running", 0}, {"completed", 0}, {"failed", 0}, {"cancelled", 0}};
  for (const auto& job : jobs) {
    auto status = std::string(word(job.state));
    if (!by_status.contains(status)) status = is_final(job.state) ? "cancelled" : "pending";
    by_status[status] = by_status[status].get<int>() + 1;
  }
  return OrderedJson{{"batch_id", id}, {"total", jobs.size()}, {"by_status", by_status}};
}

Result<config::NameStyle> Jobs::name_style() {
  return lower(trim(TRY(deps_.settings.text("cloud_names")))) == "provider" ? config::NameStyle::provider
                                                                            : config::NameStyle::canonical;
}

Result<std::vector<LogLine>> Jobs::logs(const Principal& principal, const std::string& id,
                                        std::int64_t after) {
  return TRY(read_log(deps_.sql, principal, id, after, kLogPageLines)).lines;
}

Result<LogPage> Jobs::log_page(const Principal& principal, const std::string& id, std::int64_t after) {
  return read_log(deps_.sql, principal, id, after, kStreamPageLines);
}

OrderedJson to_json(const JobPage& page, const JobQuery& query, config::NameStyle style) {
  OrderedJson out;
  out["jobs"] = OrderedJson::array();
  for (const auto& job : page.jobs) out["jobs"].push_back(to_json(job, style));
  out["total"] = page.total;
  out["page"] = query.page;
  out["page_size"] = query.page_size;
  return out;
}

OrderedJson to_json(const LogLine& line) {
  return {{"n", line.n}, {"at", format_iso_micros(line.at)}, {"line", line.line}};
}

OrderedJson to_json(const std::vector<LogLine>& lines) {
  OrderedJson out;
  out["logs"] = OrderedJson::array();
  for (const auto& line : lines) out["logs"].push_back(to_json(line));
  return out;
}

Result<Job> Jobs::cancel(const Principal& principal, const std::string& id) {
  return for_each_job(
      deps_, id, [](const Job& job) { return !is_final(job.state); },
      [&](const std::string& job_id) { return cancel_job(principal, job_id); });
}

Result<Job> Jobs::cancel_job(const Principal& principal, const std::string& id) {
  return db::write<Job>(deps_.sql, [&](db::Transaction& tx) -> Result<Job> {
    auto job = TRY(get_job(tx, id));
    if (!principal.is_admin && principal.username != job.created_by)
      return fail(Code::forbidden, "only its requester and admins may cancel a job");
    bool stopped =
        TRY(transition(tx, id, {State::awaiting_approval, State::scheduled, State::pending}, State::cancelled,
                       {", reason = 'user', message = $3, completed_at = $4",
                        {"cancelled by " + principal.username, to_micros(deps_.clock.now())},
                        ""}));
    bool requested = !stopped && TRY(tx.exec(R"(UPDATE jobs SET cancel_requested = 1, message = 'stopping'
                                                WHERE id = $1 AND state = 'running')",
                                             {id})) == 1;
    if (!stopped && !requested) return fail(Code::conflict, "job {} is already {}", id, word(job.state));
    TRY(deps_.audit.append(tx, audit::make_event(principal, "job_cancelled", job.name,
                                                 {{"job_id", id}, {"job_type", job.action}})));
    return get_job(tx, id);
  });
}

}  // namespace dash::jobs
