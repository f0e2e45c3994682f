#include "core/jobs/run_now.hpp"

#include "core/base/process_name.hpp"
#include "core/jobs/job_rows.hpp"
#include "core/jobs/running_job.hpp"
#include "tests/support/jobs_fixture.hpp"

namespace dash::jobs {
namespace {

class RunNow : public JobsFixture {
 protected:
  RunNow() {
    runners_.add("test:copy",
                 {[this](const Job& job, const Json& parameters, RunControl& control) {
                    seen_ = parameters;
                    control.log("copying " + job.name);
                    control.report({.bytes_done = 40, .bytes_total = 100});
                    return run_ ? run_(control) : RunResult{RunStatus::done, "", "", {{"copied", 3}}};
                  },
                  OnWorkerLoss::requeue});
  }
  static Job draft() {
    Job job;
    job.action = "test:copy", job.name = "a to b", job.request = {{"source", "a"}};
    return job;
  }
  OnInsert audited_as(std::string action) {
    return [this, action](db::Transaction& tx, const Job& job) -> Result<void> {
      TRY(audit_.append(tx, audit::make_event(alice_, action, job.name, {{"job_id", job.id}})));
      return {};
    };
  }
  // Copies until it has to stop.
  static RunResult endless(RunControl& control) {
    while (!control.should_stop()) std::this_thread::yield();
    return {RunStatus::stopped};
  }

  std::function<RunResult(RunControl&)> run_;
  Json seen_;
  Executors none_{scratch_ / "deploy", ""};
  std::atomic<bool> stop_ = false;
};

TEST_F(RunNow, RunsInTheCallersThreadAndReturnsTheJobAsItEnded) {
  auto done = must(run_now(deps_, alice_, draft(), {{"secret", "x"}}, audited_as("copy")));
  EXPECT_EQ(done.state, State::completed);
  EXPECT_EQ(done.created_by, "alice");
  EXPECT_EQ(done.result["copied"], 3);
  EXPECT_EQ(seen_["secret"], "x");
  auto shown = to_json(job(done.id));
  EXPECT_EQ(shown["progress"]["bytes_done"], 40);
  EXPECT_EQ(shown["progress_pct"], 100);
  EXPECT_EQ(must(jobs_.logs(root_, done.id, 0)).at(0).line, "copying a to b");
  EXPECT_EQ(audited().back(), "copy");
}

TEST_F(RunNow, ShowsTheDetailsThatItsRunnerTells) {
  auto during = OrderedJson();
  run_ = [&](RunControl& control) {
    control.set_detail("plan", {{"add", 1}});
    control.set_detail("hosts", {{{"name", "web"}, {"outcome", "ok"}, {"error", nullptr}}});
    control.set_detail("sealed_plan", "x");
    must(control.flush());
    during = to_json(must(jobs_.list(root_, {})).jobs.at(0));
    RunResult out{RunStatus::done};
    out.exit_status = 0;
    return out;
  };
  auto draft_with = draft();
  draft_with.details["deploy_job_id"] = "j1";
  auto done = must(run_now(deps_, alice_, draft_with, Json::object(), audited_as("copy")));
  EXPECT_EQ(during["plan"]["add"], 1);
  EXPECT_EQ(during["status"], "running");
  auto shown = to_json(done);
  EXPECT_EQ(shown["hosts"][0]["name"], "web");
  EXPECT_EQ(shown["deploy_job_id"], "j1");
  EXPECT_EQ(shown["warnings"], OrderedJson::array());
  EXPECT_EQ(shown["outputs"], nullptr);
  EXPECT_FALSE(shown.contains("sealed_plan"));
  EXPECT_EQ(done.details["sealed_plan"], "x");
  EXPECT_EQ(shown["exit_status"], 0);
}

TEST_F(RunNow, KeepsTheFirstAndTheLastLinesOfItsLog) {
  run_ = [](RunControl& control) {
    for (int i = 2; i <= 21'000; ++i) control.log(fmt::format("line {}", i));
    return RunResult{RunStatus::done};
  };
  auto id = must(run_now(deps_, alice_, draft(), Json::object(), audited_as("copy"))).id;
  EXPECT_EQ(must(jobs_.logs(root_, id, 9'998)).at(1).n, 10'000);
  auto after_gap = must(jobs_.logs(root_, id, 10'000)).at(0);
  EXPECT_EQ(after_gap.n, 11'001);
  EXPECT_EQ(after_gap.line, "line 11001");
  EXPECT_EQ(must(jobs_.logs(root_, id, 20'999)).at(0).n, 21'000);
}

TEST_F(RunNow, MakesNoJobWhenItsInsertIsRefused) {
  auto refused = run_now(
      deps_, alice_, draft(), Json::object(),
      [](db::Transaction&, const Job&) -> Result<void> { return fail(Code::conflict, "another copy runs"); });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_EQ(count_jobs(), 0);
}

TEST_F(RunNow, IsCancelledWhenItsCallerLeaves) {
  run_ = endless;
  auto left = must(run_now(deps_, alice_, draft(), Json::object(), audited_as("copy"), [] { return true; }));
  EXPECT_EQ(left.state, State::cancelled);
  EXPECT_EQ(left.reason, "user");
}

TEST_F(RunNow, IsCancelledByItsJob) {
  run_ = [this](RunControl& control) {
    auto id = must(jobs_.list(root_, {})).jobs.at(0).id;
    must(jobs_.cancel(alice_, id));
    return endless(control);
  };
  EXPECT_EQ(must(run_now(deps_, alice_, draft(), Json::object(), audited_as("copy"))).state,
            State::cancelled);
}

TEST_F(RunNow, FailsTheJobWithTheRunnersError) {
  runners_.add("test:copy", {[](const Job&, const Json&, RunControl&) -> Result<RunResult> {
                 return fail(Code::unreachable, "the source does not answer");
               }});
  auto failed = run_now(deps_, alice_, draft(), Json::object(), audited_as("copy"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::unreachable);
  auto job = must(jobs_.list(root_, {})).jobs.at(0);
  EXPECT_EQ(job.state, State::failed);
  EXPECT_EQ(job.error, "the source does not answer");
}

TEST_F(RunNow, IsRunByAnyWorkerOnceItIsQueued) {
  auto queued = must(enqueue(deps_, alice_, draft(), Json::object(), audited_as("copy")));
  EXPECT_EQ(state(queued.id), State::pending);
  EXPECT_TRUE(must(Worker(deps_, none_, "one").work(stop_)));
  EXPECT_EQ(state(queued.id), State::completed);
}

TEST_F(RunNow, GoesBackToTheQueueWhenItsProcessEndsOrDies) {
  auto queued = must(enqueue(deps_, alice_, draft(), Json::object(), audited_as("copy")));
  run_ = endless;
  stop_ = true;
  EXPECT_TRUE(must(Worker(deps_, none_, "one").work(stop_)));
  EXPECT_EQ(state(queued.id), State::pending);
  EXPECT_TRUE(must(Worker(deps_, none_, "two").claim()));
  clock_.advance(std::chrono::hours(1));
  must(jobs_.sweep());
  EXPECT_EQ(state(queued.id), State::pending);
}

TEST_F(RunNow, AJobIsLostOnceItsProcessOrItsLeaseHasEnded) {
  auto queued = must(enqueue(deps_, alice_, draft(), Json::object(), audited_as("copy")));
  auto fail_lost = [&](const std::string& owner) {
    return must(db::write<bool>(*sql_, [&](db::Transaction& tx) -> Result<bool> {
      auto now = clock_.now();
      TRY(tx.exec("UPDATE jobs SET state = 'running', lease_owner = $1, lease_until = $2, lease_micros = 1",
                  {owner, to_micros(now)}));
      return fail_lost_job(tx, queued.id, now, 1, "it was lost");
    }));
  };
  for (std::string alive : {own_process_name() + " 1f", std::string("9-1f"), std::string("")}) {
    EXPECT_FALSE(fail_lost(alive)) << alive;
  }
  EXPECT_TRUE(fail_lost(own_process_name() + "0 1f")) << "the number of the process is used again";
  EXPECT_EQ(job(queued.id).state, State::failed);
  EXPECT_EQ(job(queued.id).error, "it was lost");
  EXPECT_FALSE(must(db::write<bool>(*sql_, [&](db::Transaction& tx) {
    return fail_lost_job(tx, queued.id, clock_.now() + std::chrono::hours(1), 1, "twice");
  }))) << "it does not run";
}

}  // namespace
}  // namespace dash::jobs
