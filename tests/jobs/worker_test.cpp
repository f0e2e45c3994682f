#include "core/jobs/worker.hpp"

#include <sys/stat.h>

#include <fstream>

#include "tests/support/jobs_fixture.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::jobs {
namespace {

class WorkerRun : public JobsFixture {
 protected:
  // Puts an executable shell script in place.
  void executor(const std::string& name, const std::string& script, mode_t mode = 0755) {
    auto path = scratch_ / "deploy/" + name;
    std::filesystem::create_directory(scratch_ / "deploy");
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
  }
  bool work(std::string owner = "one") {
    return must(Worker(deps_, executors_, std::move(owner)).work(stop_));
  }
  std::vector<std::string> lines(const std::string& id) {
    std::vector<std::string> out;
    for (const auto& line : must(jobs_.logs(root_, id, 0))) out.push_back(line.line);
    return out;
  }
  Executors executors_{scratch_ / "deploy", ""};
  std::atomic<bool> stop_ = false;
};

TEST_F(WorkerRun, RunsTheOperatorsExecutableWithTheJobOnStdin) {
  executor("cloud1-vm-deploy", R"(cat > ")" + (scratch_ / "input") +
                                   R"("; echo making; echo '{"resource_id": "i-0abc"}'; echo done >&2)");
  auto id = deployed(machine({{"ssh_key", "k1"}})).id;
  EXPECT_TRUE(work());
  auto done = job(id);
  EXPECT_EQ(done.state, State::completed);
  EXPECT_EQ(done.resource_id, "i-0abc");
  auto said = lines(id);
  EXPECT_NE(std::ranges::find(said, "making"), said.end());
  std::ifstream in(scratch_ / "input");
  auto document = must(parse_json(std::string{std::istreambuf_iterator<char>(in), {}}));
  EXPECT_EQ(document["action"], "cloud1:vm:deploy");
  EXPECT_EQ(document["request"]["instance_type"], "t3.large");
  EXPECT_EQ(document["parameters"], Json({{"ssh_key", "k1"}}));
  EXPECT_FALSE(work());
}

TEST_F(WorkerRun, FailsTheJobWithWhatItSaidLast) {
  executor("aws-ec2-deploy", "echo quota exceeded >&2; exit 3");
  auto id = deployed().id;
  EXPECT_TRUE(work());
  EXPECT_EQ(state(id), State::failed);
  EXPECT_EQ(job(id).error, "exit status 3: quota exceeded");
  auto shown = to_json(job(id));
  EXPECT_EQ(shown["exit_status"], 3);
  EXPECT_EQ(shown["signal"], nullptr);
  EXPECT_EQ(shown["progress_pct"], nullptr);
}

TEST_F(WorkerRun, ShowsTheSignalThatEndedTheProgram) {
  executor("cloud1-vm-deploy", "kill -9 $$");
  auto id = deployed().id;
  EXPECT_TRUE(work());
  auto shown = to_json(job(id));
  EXPECT_EQ(shown["signal"], 9);
  EXPECT_EQ(shown["exit_status"], nullptr);
}

TEST_F(WorkerRun, LeavesAJobPendingThatItCannotRun) {
  auto id = deployed().id;
  EXPECT_FALSE(work());
  executor("cloud1-vm-deploy", "exit 0", 0757);
  EXPECT_FALSE(work());
  EXPECT_EQ(state(id), State::pending);
}

TEST_F(WorkerRun, RunsNoExecutableBelowAFolderThatOthersMayWrite) {
  auto id = deployed().id;
  executor("cloud1-vm-deploy", "exit 0");
  for (auto mode : {0777, 0775, 0757}) {
    ASSERT_EQ(::chmod((scratch_ / "deploy").c_str(), static_cast<mode_t>(mode)), 0);
    EXPECT_FALSE(work()) << mode;
    auto refused = executors_.refused();
    ASSERT_EQ(refused.size(), 1u);
    EXPECT_EQ(refused[0].path, scratch_ / "deploy/cloud1-vm-deploy");
    EXPECT_NE(refused[0].reason.find("chmod 0755 " + scratch_ / "deploy"), std::string::npos);
  }
  ASSERT_EQ(::chmod((scratch_ / "deploy").c_str(), 0755), 0);
  EXPECT_TRUE(executors_.refused().empty());
  EXPECT_TRUE(work());
  EXPECT_EQ(state(id), State::completed);
}

TEST_F(WorkerRun, NeverClaimsWhatWaitsForApprovalOrItsTime) {
  executor("cloud1-vm-deploy", "exit 0");
  gate_.hold("big");
  auto held = deployed().id;
  gate_.allow();
  auto booked = deployed(machine({{"run_at", "2026-07-04T10:00"}})).id;
  EXPECT_FALSE(work());
  clock_.set("2026-07-04T10:00:00Z");
  must(jobs_.sweep());
  EXPECT_TRUE(work());
  EXPECT_EQ(state(booked), State::completed);
  EXPECT_EQ(state(held), State::awaiting_approval);
  gate_.hold("big");
  must(jobs_.approve(bob_, held, ApprovalKind::all));
  EXPECT_TRUE(work());
  EXPECT_EQ(state(held), State::completed);
}

TEST_F(WorkerRun, JudgesAgainWhenItClaims) {
  executor("cloud1-vm-deploy", "exit 0");
  auto id = deployed().id;
  gate_.deny("frozen");
  EXPECT_TRUE(work());
  EXPECT_EQ(state(id), State::cancelled);
  EXPECT_EQ(job(id).reason, "policy");
  EXPECT_EQ(audited(), std::vector<std::string>{"cloud1:vm:deploy:denied"});
  EXPECT_TRUE(lines(id).empty());
}

TEST_F(WorkerRun, SendsAnApprovalBackThatNoLongerCovers) {
  executor("cloud1-vm-deploy", "exit 0");
  gate_.hold("big");
  auto id = deployed().id;
  must(jobs_.approve(bob_, id, ApprovalKind::all));
  gate_.rules = "v2";
  EXPECT_TRUE(work());
  EXPECT_EQ(state(id), State::awaiting_approval);
  EXPECT_FALSE(job(id).policy_approval);
  must(jobs_.approve(bob_, id, ApprovalKind::all, job(id).approval_digest));
  EXPECT_TRUE(work());
  EXPECT_EQ(state(id), State::completed);
}

TEST_F(WorkerRun, WaitsForAnEngineThatIsDown) {
  executor("cloud1-vm-deploy", "exit 0");
  auto id = deployed().id;
  gate_.engine_fails();
  EXPECT_TRUE(work());
  EXPECT_EQ(state(id), State::pending);
  EXPECT_FALSE(work());
  gate_.allow();
  clock_.advance(std::chrono::seconds(31));
  EXPECT_TRUE(work());
  EXPECT_EQ(state(id), State::completed);
}

TEST_F(WorkerRun, TwoWorkersNeverClaimTheSameJob) {
  executor("cloud1-vm-deploy", "exit 0");
  for (int i = 0; i < 20; ++i) deployed();
  auto claimed = claimed_by_four(executors_);
  EXPECT_EQ(claimed.size(), 20u);
  EXPECT_EQ(std::set(claimed.begin(), claimed.end()).size(), 20u);
}

// The worker dies after its claim: nothing else is known of it than that its lease runs out.
TEST_F(WorkerRun, ADeadWorkersDeployFailsAndItsTeardownRunsAgain) {
  executor("cloud1-vm-deploy", "exit 0");
  executor("cloud1-vm-destroy", "exit 0");
  auto made = deployed().id;
  auto removed = must(destroy(root_, "i-1")).jobs.at(0).id;
  Worker dead(deps_, executors_, "dead");
  must(dead.claim());
  must(dead.claim());
  must(jobs_.sweep());
  EXPECT_EQ(state(made), State::running);
  clock_.advance(std::chrono::seconds(61));
  must(jobs_.sweep());
  EXPECT_EQ(state(made), State::failed);
  EXPECT_EQ(job(made).reason, "worker_lost");
  EXPECT_EQ(state(removed), State::pending);
  EXPECT_TRUE(work());
  EXPECT_EQ(state(removed), State::completed);
}

TEST_F(WorkerRun, ATeardownThatKillsItsWorkersIsGivenUp) {
  executor("cloud1-vm-destroy", "exit 0");
  auto id = must(destroy(root_, "i-1")).jobs.at(0).id;
  for (int i = 0; i < 3; ++i) {
    must(Worker(deps_, executors_, "dead").claim());
    clock_.advance(std::chrono::seconds(61));
    must(jobs_.sweep());
  }
  EXPECT_EQ(state(id), State::failed);
}

TEST_F(WorkerRun, ACompletedTeardownForgetsTheDeploy) {
  executor("cloud1-vm-deploy", R"(echo '{"resource_id": "i-9"}')");
  executor("cloud1-vm-destroy", "exit 0");
  deployed();
  EXPECT_TRUE(work());
  must(destroy(root_, "i-9"));
  EXPECT_EQ(gate_.calls.back().request["has_deploy_job"], true);
  EXPECT_TRUE(work());
  must(destroy(root_, "i-9"));
  EXPECT_EQ(gate_.calls.back().request["has_deploy_job"], false);
}

TEST_F(WorkerRun, CancellingARunningJobStopsItsExecutable) {
  // The fake clock is fixed, so the lease is renewed, and the cancel noticed, only after the test moves the
  // clock.
  executor("cloud1-vm-deploy",
           R"(trap 'echo stopping; exit 1' TERM; echo started; while :; do sleep 0.05; done)");
  auto id = deployed().id;
  std::jthread canceller([&] {
    ASSERT_TRUE(wait_until([&] { return !lines(id).empty(); }));
    must(jobs_.cancel(alice_, id));
    clock_.advance(std::chrono::seconds(20));
  });
  EXPECT_TRUE(work());
  EXPECT_EQ(state(id), State::cancelled);
}

TEST_F(WorkerRun, APoolRunsSweepsAndStops) {
  executor("cloud1-vm-deploy", "exit 0");
  auto id = deployed().id;
  auto orphan = must(jobs_.submit(alice_, {"k8s:provision", {{"name", "k"}}, ""})).jobs.at(0).id;
  {
    JobWorkers pool(jobs_, deps_, executors_, 2);
    EXPECT_TRUE(wait_until([&] { return state(id) == State::completed && !job(orphan).message.empty(); }));
  }
  EXPECT_NE(job(orphan).message.find("no executor for k8s:provision"), std::string::npos);
}

}  // namespace
}  // namespace dash::jobs
