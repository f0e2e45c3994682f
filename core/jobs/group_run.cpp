#include "core/jobs/group_run.hpp"

#include <algorithm>
#include <condition_variable>

#include "core/base/log.hpp"
#include "core/jobs/job_rows.hpp"
#include "core/jobs/lease.hpp"

namespace dash::jobs {
namespace {

constexpr std::chrono::seconds kGroupInterval{1};

Result<std::string> group_of(db::Transaction& tx, const std::string& job_id) {
  auto rows = TRY(tx.query("SELECT coalesce(run_group, '') FROM jobs WHERE id = $1", {job_id}));
  return rows.empty() ? std::string() : rows[0].text(0);
}

}  // namespace

Result<void> set_run_group(db::Transaction& tx, const std::string& job_id, const std::string& group) {
  TRY(tx.exec("UPDATE jobs SET run_group = $2 WHERE id = $1", {job_id, group}));
  return {};
}

Result<void> take_group(db::Transaction& tx, const std::string& job_id, const std::string& owner,
                        std::int64_t now, std::int64_t lease) {
  auto group = TRY(group_of(tx, job_id));
  if (group.empty()) return {};
  auto rows =
      TRY(tx.query("SELECT id FROM jobs WHERE run_group = $1 AND state = 'pending' ORDER BY seq", {group}));
  for (const auto& row : rows) TRY(take_lease(tx, row.text(0), owner, now, lease));
  return {};
}

GroupRun::GroupRun(const Deps& deps, std::string group, std::string owner, std::int64_t lease)
    : deps_(deps), group_(std::move(group)), owner_(std::move(owner)), lease_(lease) {}

Result<std::unique_ptr<GroupRun>> GroupRun::open(const Deps& deps, const Job& leader) {
  auto lease = TRY(lease_micros(deps.settings));
  auto out = TRY(db::read<std::unique_ptr<GroupRun>>(
      deps.sql, [&](db::Transaction& tx) -> Result<std::unique_ptr<GroupRun>> {
        auto owner = TRY(tx.query("SELECT coalesce(lease_owner, '') FROM jobs WHERE id = $1", {leader.id}));
        if (owner.empty()) return fail(Code::not_found, "there is no job '{}'", leader.id);
        auto group = TRY(group_of(tx, leader.id));
        std::unique_ptr<GroupRun> made(new GroupRun(deps, group, owner[0].text(0), lease));
        if (!group.empty()) TRY(made->load(tx, leader));
        return made;
      }));
  if (out->size() > 0)
    out->thread_ = std::jthread([run = out.get()](const std::stop_token& stop) { run->keep(stop); });
  return out;
}

Result<void> GroupRun::load(db::Transaction& tx, const Job& leader) {
  auto rows = TRY(tx.query(kSelectJobs +
                               "WHERE run_group = $1 AND id <> $2 AND state = 'running' AND lease_owner = $3 "
                               "ORDER BY seq",
                           {group_, leader.id, owner_}));
  for (const auto& row : rows)
    members_.push_back(std::make_unique<Member>(deps_, TRY(row_to_job(row)), owner_, lease_, never_));
  return {};
}

GroupRun::~GroupRun() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  for (std::size_t i = 0; i < members_.size(); ++i)
    std::ignore = finish(i, failed_run(make_error(Code::internal, "the run of its batch ended without it")));
}

Result<void> GroupRun::finish(std::size_t i, const RunResult& outcome) {
  auto& member = *members_.at(i);
  if (member.is_finished.exchange(true)) return {};
  std::ignore = member.running.flush();
  auto done = finish_job(deps_, member.job, member.running, outcome);
  if (!done) log::error("jobs.group_not_finished", {{"job", member.job.id}, {"error", done.error().message}});
  return done;
}

bool GroupRun::is_cancelled() const {
  std::lock_guard lock(mutex_);
  return std::ranges::any_of(members_, [&](const auto& member) {
    return !member->is_finished && cancelled_.contains(member->job.id);
  });
}

bool GroupRun::is_cancelled(const std::string& job_id) const {
  std::lock_guard lock(mutex_);
  return cancelled_.contains(job_id);
}

void GroupRun::keep(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  auto renewed = deps_.clock.now();
  while (!wake.wait_for(lock, stop, kGroupInterval, [] { return false; }) && !stop.stop_requested()) {
    for (auto& member : members_)
      if (!member->is_finished) std::ignore = member->running.flush();
    look_for_cancels();
    // When the clock was put back, the leases are from the future: they are renewed at once.
    auto now = deps_.clock.now();
    auto passed = to_micros(now) - to_micros(renewed);
    if (passed >= 0 && passed < lease_ / 4) continue;
    renewed = now;
    renew();
  }
}

void GroupRun::renew() {
  std::ignore = deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec(
        R"(UPDATE jobs SET lease_until = $3, lease_micros = $4
           WHERE run_group = $1 AND state = 'running' AND lease_owner = $2)",
        {group_, owner_, to_micros(deps_.clock.now()) + lease_, lease_}));
    return {};
  });
}

void GroupRun::look_for_cancels() {
  std::set<std::string> found;
  auto read = deps_.sql.read([&](db::Transaction& tx) -> Result<void> {
    auto rows = TRY(tx.query("SELECT id FROM jobs WHERE run_group = $1 AND cancel_requested = 1", {group_}));
    for (const auto& row : rows) found.insert(row.text(0));
    return {};
  });
  if (!read) return;
  std::lock_guard lock(mutex_);
  cancelled_ = std::move(found);
}

}  // namespace dash::jobs
