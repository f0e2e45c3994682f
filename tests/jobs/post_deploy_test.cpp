#include "core/jobs/post_deploy.hpp"

#include <algorithm>

#include "core/config/masking.hpp"
#include "core/jobs/job_rows.hpp"
#include "core/jobs/worker.hpp"
#include "tests/support/jobs_fixture.hpp"

namespace dash::jobs {
namespace {

// Knows one global asset and one of team-a.
struct FakeRuns final : PostDeployRuns {
  Result<PostDeployRun> resolve(const Principal&, const std::optional<std::string>& workgroup,
                                const PostDeployEntry& entry) override {
    bool is_scoped = entry.asset == "team.yml";
    if (entry.asset != "site.yml" && !(is_scoped && workgroup == "team-a"))
      return fail(Code::not_found, "there is no asset '{}'", entry.asset);
    return PostDeployRun{workgroup,
                         {{"asset", entry.asset}, {"backend", "local"}, {"asset_digest", "p8:1"}},
                         {{"extra_vars", entry.variables}, {std::string(kAfterDeploy), Json::object()}}};
  }
};

class PostDeploy : public JobsFixture {
 protected:
  PostDeploy() {
    deps_.post_deploy = &runs_;
    runners_.add("cloud1:vm:deploy",
                 {[this](const Job&, const Json&, RunControl&) { return Result<RunResult>(outcome_); }});
  }
  static Json after(const Json& entries) { return machine({{"post_deploy", entries}}); }
  Result<SubmitResult> submit(const Principal& who, const Json& body) {
    return Jobs(deps_).submit(who, {"cloud1:vm:deploy", body, ""});
  }
  Code refused(const Json& entries) {
    auto result = submit(alice_, after(entries));
    EXPECT_FALSE(result) << dump_json(entries);
    return result ? Code::internal : result.error().code;
  }
  bool work() { return must(Worker(deps_, executors_, "one").work(stop_)); }
  FakeRuns runs_;
  RunResult outcome_{RunStatus::done};
  Executors executors_{scratch_ / "deploy", ""};
  std::atomic<bool> stop_ = false;
};

TEST_F(PostDeploy, MakesTheRunsWithTheEndOfTheDeployAndLinksBothWays) {
  Json entries = {
      {{"asset", "site.yml"}, {"host_output", "host"}, {"variables", {{"token", "hunter2-x"}}}},
      {{"asset", "site.yml"}, {"host_output", "host"}, {"host_key_output", "key"}, {"user", "ops"}}};
  auto deploy = must(submit(alice_, after(entries))).jobs.at(0);
  EXPECT_EQ(deploy.request["post_deploy"][0]["variables"]["token"], config::kMask);
  EXPECT_EQ(deploy.request["post_deploy"][0]["asset_digest"], "p8:1");
  EXPECT_EQ(gate_.calls.back().request["post_deploy"].size(), 2u);
  EXPECT_EQ(count_jobs(), 1);
  EXPECT_TRUE(work());
  auto ids = to_json(job(deploy.id))["post_deploy_jobs"];
  ASSERT_EQ(ids.size(), 2u);
  auto run = job(ids[1].get<std::string>());
  EXPECT_EQ(run.action, kAutomationRun);
  EXPECT_EQ(run.state, State::pending);
  EXPECT_EQ(run.created_by, "alice");
  EXPECT_EQ(to_json(run)["deploy_job_id"], deploy.id);
  auto parameters = must(open_parameters(store_, run));
  EXPECT_EQ(parameters[std::string(kAfterDeploy)], Json({{"deploy_job_id", deploy.id},
                                                         {"host_output", "host"},
                                                         {"host_key_output", "key"},
                                                         {"user", "ops"}}));
  EXPECT_EQ(audited().back(), "config_mgmt_run");
}

// What dies between the two leaves neither: a trigger stands for the death.
TEST_F(PostDeploy, TheEndOfTheDeployAndItsRunsAreOneTransaction) {
  Json entries = {{{"asset", "site.yml"}, {"host_output", "host"}},
                  {{"asset", "site.yml"}, {"host_output", "b"}}};
  auto deploy = must(submit(alice_, after(entries))).jobs.at(0);
  auto change = [&](const char* statement) {
    must(sql_->write([&](db::Transaction& tx) -> Result<void> {
      TRY(tx.exec(statement));
      return {};
    }));
  };
  // The first run is in by then.
  change(R"(CREATE TRIGGER dies BEFORE INSERT ON jobs
            WHEN (SELECT count(*) FROM jobs WHERE action = 'config-mgmt:run') = 1
            BEGIN SELECT RAISE(ABORT, 'died'); END)");
  EXPECT_FALSE(Worker(deps_, executors_, "one").work(stop_));
  EXPECT_EQ(state(deploy.id), State::running);
  EXPECT_EQ(count_jobs(), 1);
  EXPECT_TRUE(to_json(job(deploy.id))["post_deploy_jobs"].empty());
  auto seen = audited();
  EXPECT_EQ(std::ranges::count(seen, "config_mgmt_run"), 0);
  change("DROP TRIGGER dies");
}

TEST_F(PostDeploy, ADeployThatFailsHasNone) {
  outcome_ = {RunStatus::failed, "quota"};
  auto deploy = must(submit(alice_, after({{{"asset", "site.yml"}, {"host_output", "host"}}}))).jobs.at(0);
  EXPECT_TRUE(work());
  EXPECT_EQ(state(deploy.id), State::failed);
  EXPECT_EQ(count_jobs(), 1);
}

TEST_F(PostDeploy, TakesGlobalAssetsAndThoseOfItsWorkgroup) {
  Json entries = {{{"asset", "team.yml"}, {"host_output", "host"}}};
  EXPECT_EQ(refused(entries), Code::not_found);
  EXPECT_EQ(refused({{{"asset", "no.yml"}, {"host_output", "host"}}}), Code::not_found);
  auto body = after(entries);
  body["workgroup"] = "team-a";
  EXPECT_TRUE(submit(carol_, body));
  EXPECT_EQ(count_jobs(), 1);
}

TEST_F(PostDeploy, NamesWhatIsWrongWithAnEntry) {
  Json good = {{"asset", "site.yml"}, {"host_output", "host"}};
  auto with = [&](const Json& more) {
    auto out = good;
    out.update(more);
    return Json::array({out});
  };
  for (const auto& entries :
       {Json("x"), Json::array({1}), Json::array({{{"asset", "site.yml"}}}),
        Json::array({{{"host_output", "host"}}}), with({{"user", 1}}), with({{"variables", {1}}}),
        with({{"runner", "x"}}), Json(kMaxPostDeployRuns + 1, good)})
    EXPECT_EQ(refused(entries), Code::validation);
  EXPECT_EQ(count_jobs(), 0);
  EXPECT_TRUE(submit(alice_, after(nullptr)));
}

TEST_F(PostDeploy, IsCoveredByTheApprovalAndNoParameterOfAnExecutable) {
  set("change_approval_required", "true");
  auto digest = [&](const std::string& output) {
    auto body = after({{{"asset", "site.yml"}, {"host_output", output}}});
    body["run_at"] = "2026-07-04T10:00";
    return must(submit(alice_, body)).jobs.at(0).approval_digest;
  };
  EXPECT_NE(digest("host"), digest("other"));
}

}  // namespace
}  // namespace dash::jobs
