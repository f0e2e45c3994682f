// The audit log and the jobs over both databases: what their SQL promises. PostgreSQL's address comes from
// DATABASE_URL.
#include <signal.h>

#include <set>
#include <thread>

#include "core/audit/verify.hpp"
#include "core/base/file.hpp"
#include "core/db/change_watcher.hpp"
#include "core/jobs/changes.hpp"
#include "core/jobs/lease.hpp"
#include "core/jobs/run_now.hpp"
#include "core/jobs/switch_lease.hpp"
#include "core/jobs/worker.hpp"
#include "tests/contract/databases.hpp"
#include "tests/support/jobs_fixture.hpp"

namespace dash::jobs {
namespace {

class JobsContract : public JobsFixture, public testing::WithParamInterface<std::string_view> {
 protected:
  JobsContract()
      : JobsFixture([](const Scratch& scratch) { return contract_database(GetParam(), scratch); }) {
    ::signal(SIGPIPE, SIG_IGN);  // an executor may end without reading its input
    std::filesystem::create_directory(scratch_ / "deploy");
    for (auto name : {"cloud1-vm-deploy", "cloud1-vm-destroy"}) {
      auto path = scratch_ / (std::string("deploy/") + name);
      must(write_file(path, "#!/bin/sh\necho done\n", 0755));
    }
  }
  void sql_exec(const std::string& statement, db::Params params) {
    must(sql_->write([&](db::Transaction& tx) -> Result<void> {
      TRY(tx.exec(statement, params));
      return {};
    }));
  }
  Executors executors_{scratch_ / "deploy", ""};
  std::atomic<bool> stop_ = false;
};

TEST_P(JobsContract, KeepsOneChainUnderManyWriters) {
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 6; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 10; ++i) must(audit_.append({"u", "a", std::nullopt, {{"n", i}}, "", ""}));
      });
  }
  auto verdict = must(audit::verify(audit_, {}));
  EXPECT_TRUE(verdict.ok) << dump_json(to_json(verdict));
  EXPECT_EQ(verdict.count, 60);
  must(sql_->write([](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec("UPDATE audit_log SET username = 'mallory' WHERE seq = 7"));
    return {};
  }));
  EXPECT_EQ(must(audit::verify(audit_, {})).first_broken_seq, 7);
}

TEST_P(JobsContract, HoldsApprovesRunsAndTearsDown) {
  gate_.hold("big");
  auto id = deployed().id;
  must(jobs_.approve(bob_, id, ApprovalKind::all));
  EXPECT_TRUE(must(Worker(deps_, executors_, "w").work(stop_)));
  EXPECT_EQ(state(id), State::completed);
  EXPECT_EQ(must(jobs_.logs(root_, id, 0)).size(), 1u);
  gate_.allow();
  must(destroy(root_, "web"));
  EXPECT_EQ(gate_.calls.back().request["has_deploy_job"], true);
  EXPECT_TRUE(must(Worker(deps_, executors_, "w").work(stop_)));
  JobQuery completed;
  completed.states = {State::completed};
  EXPECT_EQ(must(jobs_.list(root_, completed)).total, 2);
}

TEST_P(JobsContract, NumbersTheChangesThatListsShow) {
  auto newest = [&] { return must(db::read<std::int64_t>(*sql_, db::newest_change)); };
  auto before = newest();
  auto first = deployed().id, second = deployed(machine({{"name", "other"}})).id;
  auto ids = [&](std::int64_t after, const Principal& principal) {
    std::vector<std::string> out;
    for (const auto& change : must(list_changes(*sql_, principal, after)).jobs) out.push_back(change.job.id);
    return out;
  };
  EXPECT_EQ(ids(before, alice_), (std::vector{first, second}));
  EXPECT_EQ(ids(before, user("eve")), std::vector<std::string>{});
  auto after = must(list_changes(*sql_, root_, before)).last;
  EXPECT_EQ(after, newest());
  EXPECT_EQ(ids(after, root_), std::vector<std::string>{});
  must(jobs_.cancel(root_, first));
  EXPECT_EQ(ids(before, root_), (std::vector{second, first}));
  EXPECT_EQ(ids(after, root_), std::vector{first});
  // The renewal of a lease is in no list.
  after = newest();
  sql_exec("UPDATE jobs SET lease_until = 5 WHERE id = $1", {second});
  EXPECT_EQ(newest(), after);
  sql_exec("UPDATE jobs SET progress = '{}' WHERE id = $1", {second});
  EXPECT_EQ(ids(after, root_), std::vector{second});
}

TEST_P(JobsContract, RefusesAGatedJobWithoutAReceipt) {
  deployed();
  EXPECT_FALSE(sql_->write([](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec("UPDATE jobs SET receipt = ''"));
    return {};
  }));
}

TEST_P(JobsContract, ClaimsEachJobOnce) {
  for (int i = 0; i < 12; ++i) deployed();
  auto claimed = claimed_by_four(executors_);
  EXPECT_EQ(claimed.size(), 12u);
  EXPECT_EQ(std::set(claimed.begin(), claimed.end()).size(), 12u);
}

TEST_P(JobsContract, SweepsWhatTimeMoves) {
  auto booked = deployed(machine({{"run_at", "2026-07-03T15:00"}})).id;
  gate_.hold("big");
  auto held = deployed().id;
  gate_.allow();
  auto running = deployed().id;
  must(Worker(deps_, executors_, "dead").claim());
  clock_.advance(std::chrono::hours(1));
  must(jobs_.sweep());
  EXPECT_EQ(state(booked), State::pending);
  EXPECT_EQ(state(running), State::failed);
  clock_.advance(std::chrono::hours(72));
  must(jobs_.sweep());
  EXPECT_EQ(state(booked), State::missed);
  EXPECT_EQ(state(held), State::expired);
}

TEST_P(JobsContract, AWrongClockHoldsNoLeaseAndNoWindow) {
  constexpr std::chrono::hours kYear{24 * 365};
  auto window =
      must(windows_.create(root_, {{"name", "n"}, {"start_at_local", "14:00"}, {"duration_minutes", 60}}));
  auto booked = deployed(machine({{"run_at", "2026-07-03T14:30"}, {"change_window_id", window.id}})).id;
  must(windows_.update(root_, window.id, {{"enabled", false}}));
  clock_.set("2026-07-03T14:30:00Z");
  must(jobs_.sweep());
  clock_.advance(kYear);
  auto lost = deployed().id;
  sql_exec("UPDATE jobs SET window_ends_at = NULL WHERE id = $1", {booked});
  must(jobs_.heartbeat("ghost", 4));
  Worker worker(deps_, executors_, "dead");
  auto claimed = must(worker.claim());
  ASSERT_TRUE(claimed);
  EXPECT_EQ(claimed->id, lost);
  EXPECT_EQ(job(booked).reason, "change_window");
  clock_.advance(-kYear);
  must(jobs_.sweep());
  EXPECT_EQ(job(lost).reason, "worker_lost");
  EXPECT_EQ(must(jobs_.worker_status(root_))["configured"]["total"], 0);
}

// What runs when a switch has its lease is all that runs until it ends, whatever the workers of all replicas
// do at that moment.
TEST_P(JobsContract, BeginsNoDeployDuringASwitch) {
  constexpr std::int64_t kDeploys = 40;
  for (int i = 0; i < kDeploys; ++i) deployed(machine({{"name", fmt::format("m{}", i)}}));
  auto running = [&] {
    return must(db::read<std::int64_t>(*sql_, [](db::Transaction& tx) -> Result<std::int64_t> {
      return TRY(tx.query("SELECT count(*) FROM jobs WHERE state = 'running'"))[0].integer(0);
    }));
  };
  std::atomic<bool> has_ended = false;
  std::vector<std::jthread> workers;
  for (int n = 0; n < 4; ++n)
    workers.emplace_back([&, n] {
      Worker worker(deps_, executors_, std::to_string(n));
      while (!has_ended) std::ignore = must(worker.claim());
    });
  while (running() == 0) std::this_thread::yield();
  {
    auto lease = must(SwitchLease::take(*sql_, clock_, "ann"));
    auto before = running();
    for (int i = 0; i < 5; ++i) EXPECT_FALSE(must(Worker(deps_, executors_, "last").claim()));
    EXPECT_EQ(running(), before);
    EXPECT_EQ(SwitchLease::take(*sql_, clock_, "bob").error().code, Code::conflict);
    EXPECT_TRUE(must(db::write<bool>(*sql_, [&](db::Transaction& tx) { return lease->is_held(tx); })));
  }
  while (running() < kDeploys) std::this_thread::yield();
  has_ended = true;
}

TEST_P(JobsContract, EndsAJobOnceItsLeaseIsOver) {
  auto id = deployed().id;
  ASSERT_TRUE(must(Worker(deps_, executors_, "w").claim()));
  auto length = must(lease_micros(settings_));
  auto fail_lost = [&] {
    return must(db::write<bool>(*sql_, [&](db::Transaction& tx) {
      return fail_lost_job(tx, id, clock_.now(), length, "it was lost");
    }));
  };
  EXPECT_FALSE(fail_lost());
  clock_.advance(std::chrono::hours(1));
  EXPECT_TRUE(fail_lost());
  EXPECT_EQ(job(id).reason, "worker_lost");
}

TEST_P(JobsContract, EditsWindowsAndWorkgroups) {
  auto window =
      must(windows_.create(root_, {{"name", "n"}, {"start_at_local", "02:00"}, {"duration_minutes", 60}}));
  must(windows_.update(root_, window.id, {{"enabled", false}}));
  must(workgroups_.update(root_, "team-a", {{"change_window_id", window.id}}));
  EXPECT_EQ(must(workgroups_.list()).at(0).window_name, "n");
  EXPECT_EQ(windows_.remove(root_, window.id).error().code, Code::conflict);
  EXPECT_EQ(workgroups_.remove(root_, "team-a").error().code, Code::conflict);
  audit::EntryFilter filter;
  filter.action = "change_window_*";
  EXPECT_EQ(must(audit::list(audit_, root_, filter)).entries.size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(Sqlite, JobsContract, testing::Values("sqlite"));
INSTANTIATE_TEST_SUITE_P(Postgres, JobsContract, testing::Values("postgres"));

}  // namespace
}  // namespace dash::jobs
