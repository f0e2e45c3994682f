#include "core/agent/remote/storage_jobs.hpp"

#include <gtest/gtest.h>

#include "core/base/file.hpp"
#include "tests/support/agent_http.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/scratch.hpp"

namespace dash::agent {
namespace {

StorageJob share_job(StorageOp op, std::string share, std::string name = "", std::string content = "") {
  StorageJob job;
  job.op = op, job.share = std::move(share), job.name = std::move(name), job.content = std::move(content);
  return job;
}

class JobsOnShares : public ::testing::Test {
 protected:
  JobsOnShares() {
    settings_.state_folder = scratch_ / "state";
    settings_.policy_file = scratch_ / "conf/policy.yaml";
    settings_.shares_file = scratch_ / "conf/shares.yaml";
    std::filesystem::create_directory(scratch_ / "conf");
    std::filesystem::create_directory(scratch_ / "lab");
    write_shares(fmt::format("shares: [{{name: lab, path: {}}}]", scratch_ / "lab"));
    policy_.has_storage = true;
    policy_.shares = {{"lab", true}, {"gone", true}};
  }
  void write_shares(const std::string& text) { must(write_file(settings_.shares_file, text, 0600)); }
  Result<Json> run(const StorageJob& job) {
    StorageJobs jobs(settings_, policy_, dashboard_, clock_, "/proc/self/exe");
    return jobs.run({"j-1", "agent_storage", to_json(job)}, context_);
  }
  Scratch scratch_;
  FakeClock clock_;
  Settings settings_;
  Policy policy_;
  AgentHttp http_;
  const Identity identity_ = test_identity();
  DashboardClient dashboard_{http_, clock_, identity_, {"https://dash.example", {}}};
  JobContext context_;
};

TEST_F(JobsOnShares, CarryOutWhatThePolicyAllows) {
  auto written = must(run(share_job(StorageOp::upload, "lab", "a.yml", "text")));
  EXPECT_EQ(written["size"], 4);
  EXPECT_EQ(written["audit_mode"], false);
  EXPECT_EQ(must(read_file(scratch_ / "lab/a.yml", 10)), "text");
}

TEST_F(JobsOnShares, JudgeBeforeTheyLook) {
  write_shares("this is no list of shares");
  policy_.shares.clear();
  EXPECT_EQ(run(share_job(StorageOp::list, "lab")).error().code, Code::policy_denied);
}

TEST_F(JobsOnShares, TellTheDashboardNoPathOfTheirFiles) {
  EXPECT_NE(run(share_job(StorageOp::list, "gone")).error().message.find("no share 'gone'"),
            std::string::npos);
  write_shares("shares: [");
  auto error = run(share_job(StorageOp::list, "lab")).error();
  EXPECT_EQ(error.message.find(scratch_.path()), std::string::npos) << error.message;
}

TEST_F(JobsOnShares, ChangeNothingInAuditMode) {
  must(run(share_job(StorageOp::upload, "lab", "a.yml", "text")));
  settings_.is_audit = true;
  EXPECT_EQ(run(share_job(StorageOp::upload, "lab", "a.yml", "other")).error().code, Code::policy_denied);
  EXPECT_EQ(run(share_job(StorageOp::remove, "lab", "a.yml")).error().code, Code::policy_denied);
  EXPECT_EQ(must(run(share_job(StorageOp::list, "lab")))["audit_mode"], true);
  EXPECT_EQ(must(read_file(scratch_ / "lab/a.yml", 10)), "text");
}

TEST_F(JobsOnShares, AskForAPasswordThatTheDashboardHolds) {
  write_shares("shares: [{name: lab, path: '\\\\files\\lab', username: u, dashboard_secret: true}]");
  http_.answer("secret", 409, R"({"detail":"no password is set"})");
  auto error = run(share_job(StorageOp::list, "lab")).error();
  EXPECT_NE(error.message.find("no password is set"), std::string::npos);
  EXPECT_EQ(http_.sent.size(), 1u);
}

}  // namespace
}  // namespace dash::agent
