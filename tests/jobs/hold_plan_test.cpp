// A deploy whose plan must be approved, from its first run to the one that applies the plan.
#include "core/jobs/hold_plan.hpp"

#include "core/jobs/worker.hpp"
#include "tests/support/jobs_fixture.hpp"

namespace dash::jobs {
namespace {

constexpr auto kPlan = ApprovalKind::plan;

class PlanApproval : public JobsFixture {
 protected:
  PlanApproval() {
    for (auto action : {"cloud1:vm:deploy", "cloud1:vm:destroy"})
      runners_.add(action, {[this](const Job& job, const Json&, RunControl&) { return run(job); }});
  }
  Result<RunResult> run(const Job& job) {
    ++runs_;
    if (auto plan = TRY(approved_plan(*sql_, store_, job))) {
      applied_.push_back(plan->bytes);
      return RunResult{RunStatus::done};
    }
    if (on_plan_) on_plan_(job);
    RunResult out{RunStatus::plan_waits};
    out.plan = Plan{"d" + std::to_string(runs_), "1 to add, 0 to change, 2 to destroy", plan_bytes_, {}};
    return out;
  }
  bool work() { return must(Worker(deps_, executors_, "one").work(stop_)); }
  std::string held(const Json& body = machine()) {
    auto id = deployed(body).id;
    EXPECT_TRUE(work());
    EXPECT_EQ(state(id), State::awaiting_approval);
    return id;
  }
  Result<ApproveResult> approve(const std::string& id, ApprovalKind what = kPlan) {
    return jobs_.approve(bob_, id, what, job(id).approval_digest);
  }
  template <class T>
  static Code code(const Result<T>& result) {
    EXPECT_FALSE(result);
    return result ? Code::internal : result.error().code;
  }
  std::int64_t stored_plans() {
    return must(db::read<std::int64_t>(*sql_, [](db::Transaction& tx) -> Result<std::int64_t> {
      return TRY(tx.query("SELECT count(*) FROM job_plans"))[0].integer(0);
    }));
  }
  Executors executors_{scratch_ / "deploy", ""};
  std::atomic<bool> stop_ = false;
  int runs_ = 0;
  std::string plan_bytes_ = "the plan";
  std::vector<std::string> applied_;
  std::function<void(const Job&)> on_plan_;
};

TEST_F(PlanApproval, WaitsWithoutALeaseAndAppliesExactlyThatPlan) {
  auto id = held();
  auto waiting = job(id);
  EXPECT_EQ(waiting.plan_digest, "d1");
  EXPECT_NE(waiting.message.find("1 to add, 0 to change, 2 to destroy"), std::string::npos);
  EXPECT_EQ(waiting.attempts, 0);
  EXPECT_EQ(to_json(waiting)["approvals"]["plan"]["required"], true);
  EXPECT_FALSE(work());
  clock_.advance(std::chrono::hours(71));
  must(jobs_.sweep());  // no lease that could be lost
  EXPECT_EQ(state(id), State::awaiting_approval);
  must(approve(id));
  EXPECT_EQ(state(id), State::pending);
  EXPECT_TRUE(applied_.empty());
  EXPECT_TRUE(work());
  EXPECT_EQ(state(id), State::completed);
  EXPECT_EQ(applied_, std::vector<std::string>{"the plan"});
  EXPECT_EQ(to_json(job(id))["approvals"]["plan"]["by"], "bob");
  must(jobs_.sweep());
  EXPECT_EQ(stored_plans(), 0);
}

TEST_F(PlanApproval, NeedsTheWordTheDigestAndSomebodyElse) {
  auto id = held();
  auto digest = job(id).approval_digest;
  for (auto what : {ApprovalKind::all, ApprovalKind::policy, ApprovalKind::booking})
    EXPECT_EQ(code(jobs_.approve(bob_, id, what, digest)), Code::conflict);
  EXPECT_EQ(code(jobs_.approve(bob_, id, kPlan)), Code::conflict);
  EXPECT_EQ(code(jobs_.approve(bob_, id, kPlan, digest + "0")), Code::conflict);
  auto alice = user("alice", {"change_windows:use"});
  alice.is_admin = true;
  EXPECT_EQ(code(jobs_.approve(alice, id, kPlan, digest)), Code::forbidden);
  EXPECT_EQ(code(jobs_.approve(user("dave"), id, kPlan, digest)), Code::forbidden);
  EXPECT_EQ(state(id), State::awaiting_approval);
  EXPECT_FALSE(must(approve(id)).was_already_approved);
  EXPECT_TRUE(must(approve(id)).was_already_approved);
  EXPECT_EQ(audited(), (std::vector<std::string>{"cloud1:vm:deploy:plan_waits", "change_approved"}));
}

TEST_F(PlanApproval, CoversThePlan) {
  auto first = job(held()).approval_digest;
  auto second = job(held()).approval_digest;  // the same request, another plan
  EXPECT_NE(first, second);
}

TEST_F(PlanApproval, IsAskedAgainWhenTheRulesChange) {
  auto id = held();
  gate_.rules = "v2";
  gate_.hold("big");
  auto digest = job(id).approval_digest;
  EXPECT_EQ(code(jobs_.approve(bob_, id, kPlan, digest)), Code::conflict);
  EXPECT_NE(job(id).approval_digest, digest);
  must(approve(id));
  EXPECT_EQ(state(id), State::awaiting_approval) << "the rules want an approval too";
  must(jobs_.approve(bob_, id, ApprovalKind::all, job(id).approval_digest));
  gate_.rules = "v3";
  EXPECT_TRUE(work());
  EXPECT_EQ(state(id), State::awaiting_approval) << "changed between approval and claim";
  EXPECT_TRUE(applied_.empty());
  gate_.rules = "v4";
  gate_.deny("frozen");
  EXPECT_EQ(code(approve(id)), Code::conflict);
  EXPECT_EQ(state(id), State::cancelled);
}

TEST_F(PlanApproval, ADenialAfterItCancels) {
  auto id = held();
  must(approve(id));
  gate_.deny("frozen");
  EXPECT_TRUE(work());
  EXPECT_EQ(state(id), State::cancelled);
  EXPECT_TRUE(applied_.empty());
}

TEST_F(PlanApproval, TheWorkgroupsWindowIsAskedAgain) {
  set("admission_control_enabled", "true");
  set("admission_gated_actions", "cloud1:vm:deploy");
  auto id = must(deploy_as(carol_, machine({{"workgroup", "team-a"}}))).jobs.at(0).id;
  EXPECT_TRUE(work());
  auto window = must(windows_.create(
      root_,
      {{"name", "nights"}, {"start_at_local", "02:00"}, {"duration_minutes", 60}, {"timezone", "UTC"}}));
  must(sql_->write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec("UPDATE workgroups SET change_window_id = $1, require_change_window = 1", {window.id}));
    return {};
  }));
  must(approve(id));
  EXPECT_FALSE(work());
  EXPECT_EQ(state(id), State::missed);
  EXPECT_TRUE(applied_.empty());
}

TEST_F(PlanApproval, RejectedCancelledAndExpiredPlansGo) {
  auto rejected = held(), cancelled = held(), expired = held();
  must(jobs_.reject(bob_, rejected, "no"));
  must(jobs_.cancel(alice_, cancelled));
  for (const auto& id : {rejected, cancelled}) EXPECT_EQ(code(approve(id)), Code::conflict);
  EXPECT_EQ(stored_plans(), 3);
  clock_.advance(std::chrono::hours(72));
  EXPECT_EQ(code(approve(expired)), Code::conflict);
  must(jobs_.sweep());
  EXPECT_EQ(state(expired), State::expired);
  EXPECT_EQ(stored_plans(), 0);
  // Scheduled anew it makes a new plan, which waits too.
  must(jobs_.reschedule(alice_, expired, Json::object()));
  EXPECT_EQ(state(expired), State::pending);
  EXPECT_TRUE(work());
  EXPECT_EQ(job(expired).plan_digest, "d4");
}

TEST_F(PlanApproval, AWaitingPlanIsNotMoved) {
  auto id = held();
  EXPECT_EQ(code(jobs_.reschedule(alice_, id, {{"run_at", "2026-07-04T10:00"}})), Code::conflict);
  must(approve(id));
  EXPECT_EQ(code(jobs_.reschedule(alice_, id, {{"run_at", "2026-07-04T10:00"}})), Code::conflict);
}

TEST_F(PlanApproval, ACancelDuringThePlanCancels) {
  on_plan_ = [&](const Job& job) { must(jobs_.cancel(alice_, job.id)); };
  auto id = deployed().id;
  EXPECT_TRUE(work());
  EXPECT_EQ(state(id), State::cancelled);
  EXPECT_EQ(stored_plans(), 0);
}

TEST_F(PlanApproval, AnotherOwnersJobStaysAsItIs) {
  on_plan_ = [&](const Job& job) {
    must(sql_->write([&](db::Transaction& tx) -> Result<void> {
      TRY(tx.exec("UPDATE jobs SET lease_owner = 'two' WHERE id = $1", {job.id}));
      return {};
    }));
  };
  auto id = deployed().id;
  EXPECT_TRUE(work());
  EXPECT_EQ(state(id), State::running);
  EXPECT_EQ(stored_plans(), 0);
}

TEST_F(PlanApproval, APlanThatIsTooLargeFails) {
  plan_bytes_.assign(kMaxPlanBytes + 1, 'x');
  auto id = deployed().id;
  EXPECT_TRUE(work());
  EXPECT_EQ(state(id), State::failed);
  EXPECT_EQ(job(id).reason, "plan_too_large");
}

TEST_F(PlanApproval, ATeardownWaitsToo) {
  auto id = must(destroy(root_, "web")).jobs.at(0).id;
  EXPECT_TRUE(work());
  EXPECT_EQ(state(id), State::awaiting_approval);
  EXPECT_EQ(code(jobs_.approve(root_, id, kPlan, job(id).approval_digest)), Code::forbidden);
  must(approve(id));
  EXPECT_TRUE(work());
  EXPECT_EQ(state(id), State::completed);
}

TEST_F(PlanApproval, ABatchIsApprovedAsAWhole) {
  auto jobs = must(deploy(machine({{"count", 2}}))).jobs;
  auto batch = *jobs.front().batch_id;
  EXPECT_TRUE(work());
  EXPECT_EQ(code(jobs_.approve(bob_, batch, ApprovalKind::all, job(batch).approval_digest)), Code::conflict);
  EXPECT_TRUE(work());
  must(approve(batch));
  for (const auto& one : jobs) EXPECT_EQ(state(one.id), State::pending);
}

TEST_F(PlanApproval, AnApproverSeesWhatWaits) {
  auto id = held();
  JobQuery waiting;
  waiting.states = {State::awaiting_approval};
  EXPECT_EQ(must(jobs_.list(bob_, waiting)).total, 1);
  EXPECT_TRUE(jobs_.show(bob_, id));
  EXPECT_TRUE(jobs_.logs(bob_, id, 0));
}

TEST_F(PlanApproval, AJobWithoutAPlanHasNoneToApprove) {
  gate_.hold("big");
  auto id = deployed().id;
  EXPECT_EQ(code(approve(id)), Code::conflict);
  must(jobs_.approve(bob_, id, ApprovalKind::all));
  EXPECT_TRUE(work());
  EXPECT_EQ(state(id), State::awaiting_approval)
      << "approved by the rules' approver, and the plan is another one";
  EXPECT_TRUE(job(id).policy_approval);
  must(approve(id));
  EXPECT_TRUE(work());
  EXPECT_EQ(state(id), State::completed);
}

}  // namespace
}  // namespace dash::jobs
