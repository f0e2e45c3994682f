// Listing, showing, cancelling, and what time does to jobs.
#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/jobs/batch.hpp"
#include "core/jobs/lease.hpp"
#include "core/jobs/store.hpp"

namespace dash::jobs {
namespace {

constexpr std::int64_t kMaxLogLines = 1000;  // a page of them
constexpr int kMaxAttempts = 3;              // of a job that is re-queued when its worker dies

bool sees_all(const Principal& who) { return who.may(kReadJobs); }

Result<void> may_see(const Principal& who, const Job& job) {
  bool approver = who.may(kUseChangeWindows) && (job.needs_policy_approval || job.needs_booking_approval);
  if (sees_all(who) || who.username == job.created_by || approver) return {};
  return fail(Code::forbidden, "Requires '{}' permission.", kReadJobs);
}

// Conditions of a listing with their parameters.
struct Where {
  std::string sql = "WHERE 1 = 1";
  db::Params params;
  void add(std::string_view condition, std::string value) {
    params.emplace_back(std::move(value));
    sql += fmt::format(fmt::runtime(condition), params.size());
  }
};

Where where_of(const Principal& who, const Listing& listing) {
  Where where;
  if (!sees_all(who)) {
    bool approver = who.may(kUseChangeWindows);
    where.add(approver ? " AND (created_by = ${} OR needs_policy_approval = 1 OR needs_booking_approval = 1)"
                       : " AND created_by = ${}",
              who.username);
  }
  if (listing.workgroup) where.add(" AND workgroup = ${}", *listing.workgroup);
  if (listing.batch_id) where.add(" AND batch_id = ${}", *listing.batch_id);
  if (listing.is_booked) where.sql += " AND run_at IS NOT NULL";
  if (listing.states.empty()) return where;
  std::string states;
  for (auto state : listing.states) states += fmt::format("{}'{}'", states.empty() ? "" : ", ", word(state));
  where.sql += fmt::format(" AND state IN ({})", states);
  return where;
}

// Under the id of a batch stands where its jobs' logs are.
std::vector<LogLine> lines_of(const std::vector<Job>& jobs, std::int64_t after) {
  std::vector<LogLine> out;
  for (std::size_t i = static_cast<std::size_t>(std::max<std::int64_t>(after, 0)); i < jobs.size(); ++i)
    out.push_back(
        {static_cast<std::int64_t>(i) + 1, jobs[i].created_at,
         fmt::format("{}: {}, see the log of job {}", jobs[i].name, word(jobs[i].state), jobs[i].id)});
  return out;
}

}  // namespace

Result<JobPage> Jobs::list(const Principal& who, const Listing& listing) {
  if (listing.page < 1 || listing.page > kMaxPage || listing.page_size < 1 ||
      listing.page_size > kMaxPageSize)
    return fail(Code::invalid, "page is 1 to {} and page_size is 1 to {}", kMaxPage, kMaxPageSize);
  auto where = where_of(who, listing);
  return db::read<JobPage>(s_.sql, [&](db::Transaction& tx) -> Result<JobPage> {
    JobPage out;
    out.total = TRY(tx.query("SELECT count(*) FROM jobs " + where.sql, where.params))[0].integer(0);
    auto rows = TRY(tx.query(fmt::format("{}{} ORDER BY seq DESC LIMIT {} OFFSET {}", kSelectJobs, where.sql,
                                         listing.page_size, (listing.page - 1) * listing.page_size),
                             where.params));
    for (const auto& row : rows) out.jobs.push_back(TRY(row_to_job(row)));
    return out;
  });
}

Result<Job> Jobs::show(const Principal& who, const std::string& id) {
  return db::read<Job>(s_.sql, [&](db::Transaction& tx) -> Result<Job> {
    auto job = TRY(need_job_or_batch(tx, id));
    TRY(may_see(who, job));
    return job;
  });
}

Result<OrderedJson> Jobs::count_batch(const Principal& who, const std::string& id) {
  auto jobs =
      TRY(db::read<std::vector<Job>>(s_.sql, [&](db::Transaction& tx) { return find_batch(tx, id); }));
  std::erase_if(jobs, [&](const Job& job) { return !may_see(who, job); });
  OrderedJson by_status{{"pending", 0}, {"running", 0}, {"completed", 0}, {"failed", 0}, {"cancelled", 0}};
  for (const auto& job : jobs) {
    auto told = std::string(word(job.state));
    if (!by_status.contains(told)) told = is_final(job.state) ? "cancelled" : "pending";
    by_status[told] = by_status[told].get<int>() + 1;
  }
  return OrderedJson{{"batch_id", id}, {"total", jobs.size()}, {"by_status", by_status}};
}

Result<config::Spelling> Jobs::spelling() {
  return lower(trim(TRY(s_.settings.text("cloud_names")))) == "provider" ? config::Spelling::provider
                                                                         : config::Spelling::canonical;
}

Result<std::vector<LogLine>> Jobs::logs(const Principal& who, const std::string& id, std::int64_t after) {
  return db::read<std::vector<LogLine>>(s_.sql, [&](db::Transaction& tx) -> Result<std::vector<LogLine>> {
    auto job = TRY(need_job_or_batch(tx, id));
    TRY(may_see(who, job));
    std::vector<LogLine> out;
    if (job.id == job.batch_id) return lines_of(TRY(find_batch(tx, id)), after);
    auto rows = TRY(tx.query(
        fmt::format("SELECT n, at, line FROM job_logs WHERE job_id = $1 AND n > $2 ORDER BY n LIMIT {}",
                    kMaxLogLines),
        {id, after}));
    for (const auto& row : rows) out.push_back({row.integer(0), from_micros(row.integer(1)), row.text(2)});
    return out;
  });
}

OrderedJson to_json(const JobPage& page, const Listing& listing, config::Spelling spelling) {
  OrderedJson out;
  out["jobs"] = OrderedJson::array();
  for (const auto& job : page.jobs) out["jobs"].push_back(to_json(job, spelling));
  out["total"] = page.total;
  out["page"] = listing.page;
  out["page_size"] = listing.page_size;
  return out;
}

OrderedJson to_json(const std::vector<LogLine>& lines) {
  OrderedJson out;
  out["logs"] = OrderedJson::array();
  for (const auto& line : lines)
    out["logs"].push_back({{"n", line.n}, {"at", format_iso_micros(line.at)}, {"line", line.line}});
  return out;
}

Result<Job> Jobs::cancel(const Principal& who, const std::string& id) {
  return each_of(
      s_, id, [](const Job& job) { return !is_final(job.state); },
      [&](const std::string& one) { return cancel_one(who, one); });
}

Result<Job> Jobs::cancel_one(const Principal& who, const std::string& id) {
  return db::write<Job>(s_.sql, [&](db::Transaction& tx) -> Result<Job> {
    auto job = TRY(need_job(tx, id));
    if (!who.is_admin && who.username != job.created_by)
      return fail(Code::forbidden, "only its requester and admins may cancel a job");
    bool stopped =
        TRY(transition(tx, id, {State::awaiting_approval, State::scheduled, State::pending}, State::cancelled,
                       {", reason = 'user', message = $3, completed_at = $4",
                        {"cancelled by " + who.username, to_micros(s_.clock.now())},
                        ""}));
    bool asked =
        !stopped &&
        TRY(tx.exec("UPDATE jobs SET cancel_requested = 1, message = 'stopping' WHERE id = $1 AND state = "
                    "'running'",
                    {id})) == 1;
    if (!stopped && !asked) return fail(Code::conflict, "job {} is {} already", id, word(job.state));
    TRY(s_.audit.append(
        tx, audit::by(who, "job_cancelled", job.name, {{"job_id", id}, {"job_type", job.action}})));
    return need_job(tx, id);
  });
}

namespace {

// One statement a rule: each row moves at most once, whoever sweeps beside us.
Result<void> sweep_times(db::Transaction& tx, std::int64_t now) {
  constexpr std::string_view kRules[] = {
      "UPDATE jobs SET state = 'expired', reason = 'not_approved', message = 'nobody approved it in time', "
      "completed_at = $1 "
      "WHERE state = 'awaiting_approval' AND (approval_expires_at <= $1 OR window_ends_at <= $1)",
      "UPDATE jobs SET state = 'missed', reason = 'window_closed', message = 'its window closed before it "
      "got a turn', "
      "completed_at = $1 WHERE state IN ('scheduled', 'pending') AND window_ends_at <= $1",
      "UPDATE jobs SET state = 'pending' WHERE state = 'scheduled' AND run_at <= $1",
  };
  for (auto rule : kRules) TRY(tx.exec(rule, {now}));
  return {};
}

Result<void> sweep_lost(db::Transaction& tx, std::int64_t now, std::int64_t lease) {
  auto rows = TRY(tx.query(kSelectJobs + "WHERE state = 'running' AND " + lease_is_over(1, 2), {now, lease}));
  for (const auto& row : rows) {
    auto job = TRY(row_to_job(row));
    const auto* action = find_action(job.action);
    bool again = action && action->when_lost == WhenLost::requeue && job.attempts < kMaxAttempts &&
                 !job.cancel_requested;
    auto next = again ? State::pending : job.cancel_requested ? State::cancelled : State::failed;
    std::string set = again ? ", lease_owner = NULL, lease_until = NULL, message = $3"
                            : ", lease_owner = NULL, lease_until = NULL, message = $3, reason = "
                              "'worker_lost', error = $3, completed_at = $4";
    std::string message =
        again ? "its worker stopped answering; it will run again"
              : "its worker stopped answering; look at the provider before you submit it again";
    // The lease is asked again: its worker may have come back between.
    TRY(transition(tx, job.id, {State::running}, next,
                   {set, {message, now, lease}, " AND " + lease_is_over(4, 5)}));
    log::warning("job_worker_lost", {{"job", job.id}, {"action", job.action}, {"next", word(next)}});
  }
  return {};
}

}  // namespace

Result<void> Jobs::sweep() {
  auto now = to_micros(s_.clock.now());
  auto lease = TRY(lease_micros(s_));
  // Most sweeps find nothing, and a read does not wait for writers.
  bool due = TRY(db::read<bool>(s_.sql, [&](db::Transaction& tx) -> Result<bool> {
    auto rows = TRY(tx.query(
        fmt::format(
            "SELECT 1 FROM jobs WHERE (state = 'awaiting_approval' AND (approval_expires_at <= $1 OR "
            "window_ends_at <= $1)) OR (state IN ('scheduled', 'pending') AND window_ends_at <= $1) OR "
            "(state = 'scheduled' AND run_at <= $1) OR (state = 'running' AND {}) LIMIT 1",
            lease_is_over(1, 2)),
        {now, lease}));
    return !rows.empty();
  }));
  if (!due) return {};
  return s_.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(sweep_times(tx, now));
    return sweep_lost(tx, now, lease);
  });
}

}  // namespace dash::jobs
