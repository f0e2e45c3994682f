#include "core/agent/remote/agent.hpp"

#include <gtest/gtest.h>

#include "core/agent/protocol/job_envelope.hpp"
#include "tests/support/agent_http.hpp"
#include "tests/support/scratch.hpp"

namespace dash::agent {
namespace {

class CountingRunner final : public JobRunner {
 public:
  explicit CountingRunner(std::atomic<int>& runs) : runs_(runs) {}
  Result<Json> run(const LeasedJob&, JobContext&) override {
    ++runs_;
    return Json{{"done", true}};
  }

 private:
  std::atomic<int>& runs_;
};

class LeasingAgent : public ::testing::Test {
 protected:
  LeasingAgent() {
    settings_.is_once = true;
    policy_.job_types = {"agent_storage", "agent_automation", "agent_hypervisor"};
  }
  void lease_job(const std::string& id, const std::string& type, Json members = Json::object()) {
    Json job{{"job_id", id},
             {"job_type", type},
             {"agent_id", identity_.agent_id},
             {"audience", identity_.audience}};
    job.update(members);
    auto key = crypto::ed25519_from_seed(Secret(std::string(32, 'd')));
    http_.answer("lease", 200, dump_json(Json{{"job", job}, {"signature", sign_job(key, job)}}));
    http_.answer("complete", 200);
  }
  // The body of the last completion.
  Json run_once() {
    {
      RunningAgent agent({settings_, policy_, clock_, dashboard_, dashboard_, done_}, is_stopping_);
      agent.add("agent_storage", std::make_unique<CountingRunner>(runs_), false);
      agent.add("agent_automation", std::make_unique<CountingRunner>(runs_), true);
      must(agent.run());
    }
    return must(parse_json(http_.sent.back().body));
  }
  Scratch scratch_;
  SystemClock clock_;
  Settings settings_;
  Policy policy_;
  AgentHttp http_;
  const Identity identity_ = test_identity();
  DashboardClient dashboard_{http_, clock_, identity_, {"https://dash.example", {}}};
  DoneJobs done_ = must(DoneJobs::open(scratch_.path()));
  std::atomic<bool> is_stopping_ = false;
  std::atomic<int> runs_ = 0;
};

TEST_F(LeasingAgent, CarriesAJobOutOnce) {
  lease_job("j-1", "agent_storage");
  EXPECT_EQ(run_once()["status"], "completed");
  lease_job("j-1", "agent_storage");
  auto again = run_once();
  EXPECT_EQ(again["status"], "failed");
  EXPECT_NE(again["error"].get<std::string>().find("twice"), std::string::npos);
  EXPECT_EQ(runs_, 1);
}

TEST_F(LeasingAgent, BeginsNothingThatExpired) {
  auto now = to_micros(clock_.now()) / 1'000'000;
  lease_job("j-1", "agent_storage", {{"expires_at", now - 5}});
  EXPECT_EQ(run_once()["status"], "failed");
  EXPECT_EQ(runs_, 0);
  EXPECT_FALSE(done_.has("j-1"));
  lease_job("j-1", "agent_storage", {{"expires_at", now + 60}});
  EXPECT_EQ(run_once()["status"], "completed");
}

TEST_F(LeasingAgent, RefusesTypesThatItsPolicyOrItsProgramLacks) {
  lease_job("j-1", "agent_hypervisor");
  EXPECT_TRUE(run_once()["error"].get<std::string>().starts_with("Agent policy refused: "));
  lease_job("j-2", "agent_discover");
  EXPECT_TRUE(run_once()["error"].get<std::string>().starts_with("Agent policy refused: "));
  lease_job("j-3", "");
  EXPECT_TRUE(run_once()["error"].get<std::string>().starts_with("Agent policy refused: "));
  EXPECT_EQ(runs_, 0);
}

TEST_F(LeasingAgent, RunsALongJobBesideItsLeases) {
  lease_job("j-1", "agent_automation");
  EXPECT_EQ(run_once()["status"], "completed");
  EXPECT_EQ(runs_, 1);
}

TEST_F(LeasingAgent, EndsWhenItIsNotKnownAnyMore) {
  http_.answer("lease", 401);
  RunningAgent agent({settings_, policy_, clock_, dashboard_, dashboard_, done_}, is_stopping_);
  EXPECT_EQ(agent.run().error().code, Code::usage);
}

}  // namespace
}  // namespace dash::agent
