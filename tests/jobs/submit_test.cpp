
#include "tests/support/jobs_fixture.hpp"

namespace dash::jobs {
namespace {

using Submit = JobsFixture;
using Strings = std::vector<std::string>;

TEST_F(Submit, MakesAPendingJobAndAuditsNothing) {
  auto made = deployed();
  EXPECT_EQ(state(made.id), State::pending);
  EXPECT_EQ(audited(), Strings{});
  auto out = to_json(SubmitResult{{made}});
  EXPECT_EQ(out["job_id"], made.id);
  EXPECT_EQ(out["status"], "pending");
  EXPECT_EQ(out["count"], 1);
}

TEST_F(Submit, RefusesWithTheSpecsBodyAndAnEntryAndNoJob) {
  gate_.deny("region \"mars\" is not in the allowed list [\"us-east-1\"]");
  auto refused = deploy();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::policy_denied);
  EXPECT_EQ(dump_json(*refused.error().body),
            R"({"error":"policy","reasons":["region \"mars\" is not in the allowed list [\"us-east-1\"]"]})");
  EXPECT_EQ(audited(), Strings{"cloud1:vm:deploy:denied"});
  EXPECT_EQ(count_jobs(), 0);
}

TEST_F(Submit, FailsClosedWhenTheEngineCannotJudge) {
  gate_.engine_fails();
  auto refused = deploy();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::policy_unavailable);
  EXPECT_EQ(info(refused.error().code).http_status, 403);
  EXPECT_EQ(audited(), Strings{"cloud1:vm:deploy:denied"});
  EXPECT_EQ(count_jobs(), 0);
}

TEST_F(Submit, ProceedsOnNeedsApprovalThatIsNotEnforced) {
  gate_.hold("big", /*enforce=*/false);
  EXPECT_EQ(deployed().state, State::pending);
  EXPECT_EQ(audited(), Strings{});
}

TEST_F(Submit, HoldsTheJobUntilSomebodyElseApproves) {
  gate_.hold("big");
  auto made = deployed();
  EXPECT_EQ(made.state, State::awaiting_approval);
  EXPECT_EQ(made.approval_reasons, Strings{"big"});
  EXPECT_EQ(audited(), Strings{"cloud1:vm:deploy:needs_approval"});
}

TEST_F(Submit, RefusesASurfaceThatCannotHold) {
  gate_.hold("big");
  for (auto [action, body] :
       std::vector<std::pair<std::string, Json>>{{"clouddb:provision", {{"name", "db"}}},
                                                 {"k8s:provision", {{"name", "k"}}},
                                                 {"cloud1:vm:deploy", machine({{"count", 2}})}}) {
    auto refused = jobs_.submit(alice_, {action, body, ""});
    ASSERT_FALSE(refused) << action;
    EXPECT_EQ(refused.error().code, Code::needs_approval);
    EXPECT_EQ(refused.error().body->at("error"), "needs_approval");
    ASSERT_EQ(refused.error().body->at("reasons").size(), 2u);
    EXPECT_EQ(refused.error().body->at("reasons")[0], "big") << "as the rule wrote it";
    EXPECT_EQ(audited().back(), action + ":denied");
  }
  EXPECT_EQ(destroy(root_, "i-1").error().code, Code::needs_approval);
  EXPECT_EQ(count_jobs(), 0);
}

TEST_F(Submit, UnderstandsTheProvidersNameOfAnAction) {
  must(jobs_.submit(alice_, {"aws:ec2:deploy", machine(), ""}));
  EXPECT_EQ(gate_.calls.at(0).action, "cloud1:vm:deploy");
}

TEST_F(Submit, JudgesEveryMachineOfABatchFirst) {
  gate_.on_evaluate = [](const FakeGate::Call& asked) {
    return FakeGate::of(asked.request["name"] == "web-02" ? policy::Verdict::deny : policy::Verdict::allow,
                        {"not the second"}, {});
  };
  EXPECT_FALSE(deploy(machine({{"count", 3}})));
  EXPECT_EQ(gate_.calls.size(), 3u);
  EXPECT_EQ(count_jobs(), 0);
  EXPECT_EQ(audited(), Strings{"cloud1:vm:deploy:denied"});
  gate_.on_evaluate = {};
  auto out = to_json(must(deploy(machine({{"count", 3}}))));
  EXPECT_EQ(out["count"], 3);
  EXPECT_EQ(out["names"], OrderedJson({"web-01", "web-02", "web-03"}));
  EXPECT_EQ(out["job_ids"].size(), 3u);
  EXPECT_EQ(gate_.calls.back().request["batch"], true);
}

TEST_F(Submit, NeedsMembershipOfTheWorkgroup) {
  EXPECT_EQ(deploy(machine({{"workgroup", "team-a"}})).error().code, Code::forbidden);
  // A user who is no admin does not learn which workgroups exist.
  auto unknown = deploy(machine({{"workgroup", "nobody"}}));
  EXPECT_EQ(unknown.error().code, Code::forbidden);
  EXPECT_EQ(unknown.error().message, "you are not a member of the workgroup 'nobody'");
  EXPECT_EQ(deploy_as(root_, machine({{"workgroup", "nobody"}})).error().code, Code::invalid);
  EXPECT_TRUE(deploy_as(carol_, machine({{"workgroup", "Team-A"}})));
  EXPECT_TRUE(deploy_as(root_, machine({{"workgroup", "team-a"}})));
  EXPECT_EQ(gate_.calls.at(0).request["workgroup"], "team-a");
}

// A caller cannot leave its workgroup, and the change window of that, by omission.
class OwnWorkgroup : public JobsFixture {
 protected:
  OwnWorkgroup() {
    must(sql_->write([&](db::Transaction& tx) { return directory_.make_workgroup(tx, "team-b", ""); }));
  }
  static std::vector<std::pair<std::string, Json>> deploys() {
    return {{"cloud1:vm:deploy", machine()},
            {"cloud2:vm:deploy", {{"name", "w"}, {"image", "i"}}},
            {"cloud3:vm:deploy", {{"name", "w"}, {"image", "i"}}},
            {"oci:compute:deploy", {{"name", "w"}, {"image", "i"}}},
            {"clouddb:provision", {{"name", "d"}}},
            {"k8s:provision", {{"name", "k"}}}};
  }
  static std::vector<Json> left_out() {
    return {Json::object(), {{"workgroup", nullptr}}, {{"workgroup", " "}}};
  }
  Principal both_ = user("both", {}, {"team-b", "team-a"});
};

TEST_F(OwnWorkgroup, IsTheOnlyOneWhenItIsLeftOut) {
  for (const auto& [action, body] : deploys())
    for (const auto& more : left_out()) {
      auto asked = body;
      asked.update(more);
      auto made = must(jobs_.submit(carol_, {action, asked, ""})).jobs.at(0);
      EXPECT_EQ(made.workgroup, "team-a") << action;
      EXPECT_EQ(gate_.calls.back().request["workgroup"], "team-a") << action;
      EXPECT_EQ(must(jobs_.submit(root_, {action, asked, ""})).jobs.at(0).workgroup, std::nullopt);
      EXPECT_EQ(must(jobs_.submit(alice_, {action, asked, ""})).jobs.at(0).workgroup, std::nullopt);
      EXPECT_EQ(gate_.calls.back().request["workgroup"], nullptr);
    }
}

TEST_F(OwnWorkgroup, HasToBeNamedByWhoIsInSeveral) {
  for (const auto& [action, body] : deploys())
    for (const auto& more : left_out()) {
      auto asked = body;
      asked.update(more);
      auto refused = jobs_.submit(both_, {action, asked, ""});
      ASSERT_FALSE(refused) << action;
      EXPECT_EQ(refused.error().code, Code::validation);
      const auto& problem = refused.error().body->at(0);
      EXPECT_EQ(problem["type"], "missing");
      EXPECT_EQ(problem["loc"], OrderedJson({"body", "workgroup"}));
      EXPECT_NE(problem["msg"].get<std::string>().find("team-a, team-b"), std::string::npos);
    }
  EXPECT_TRUE(gate_.calls.empty()) << "before the gate";
  EXPECT_EQ(audited(), Strings{});
  EXPECT_EQ(must(deploy_as(both_, machine({{"workgroup", "team-b"}}))).jobs.at(0).workgroup, "team-b");
}

TEST_F(OwnWorkgroup, CountsForEachMachineOfABulkDeploy) {
  auto bulk = [&](const Principal& principal, Json items) {
    return jobs_.submit(principal,
                        {"cloud1:vm:deploy", {{"image", "i"}, {"items", std::move(items)}}, "", true});
  };
  for (const auto& made :
       must(bulk(carol_, {{{"name", "w1"}}, {{"name", "w2"}, {"workgroup", "team-a"}}})).jobs)
    EXPECT_EQ(made.workgroup, "team-a");
  auto refused =
      bulk(both_, {{{"name", "w3"}, {"workgroup", "team-a"}}, {{"name", "w4"}, {"workgroup", nullptr}}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().body->at(0)["loc"], OrderedJson({"body", "workgroup"}));
  auto counted = must(jobs_.submit(carol_, {"cloud1:vm:deploy", machine({{"count", 2}}), ""}));
  EXPECT_EQ(counted.jobs.at(1).workgroup, "team-a");
}

TEST_F(Submit, IsTheOnlyDoorToAGatedJob) {
  deployed();
  auto forged = sql_->write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec("UPDATE jobs SET receipt = ''"));
    return {};
  });
  EXPECT_FALSE(forged);
}

// The input of a teardown's evaluation.
TEST_F(Submit, JudgesATeardownOfWhatItDidNotDeploy) {
  must(destroy(root_, "i-1"));
  EXPECT_EQ(gate_.calls.at(0).request,
            Json::parse(
                R"({"region":"","name":"i-1","resource_id":"i-1","workgroup":null,"has_deploy_job":false})"));
  must(jobs_.submit(root_, {"cloud3:vm:destroy", {{"zone", "europe-west1-b"}}, "vm"}));
  EXPECT_EQ(gate_.calls.at(1).request["region"], "europe-west1");
  EXPECT_EQ(gate_.calls.at(1).request["zone"], "europe-west1-b");
  EXPECT_EQ(destroy(alice_, "i-1").error().code, Code::forbidden);
  EXPECT_EQ(gate_.calls.size(), 2u);
}

TEST_F(Submit, JudgesATeardownByItsNewestCompletedDeploy) {
  auto made = must(deploy_as(carol_, machine({{"workgroup", "team-a"}, {"region", "eu-west-1"}}))).jobs.at(0);
  must(sql_->write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec("UPDATE jobs SET state = 'completed', completed_at = 1, resource_id = 'i-77' WHERE id = $1",
                {made.id}));
    return {};
  }));
  EXPECT_EQ(destroy(alice_, "i-77").error().code, Code::forbidden);
  must(destroy(carol_, "i-77"));
  EXPECT_EQ(
      gate_.calls.back().request,
      Json::parse(
          R"({"region":"eu-west-1","name":"i-77","resource_id":"i-77","workgroup":"team-a","has_deploy_job":true})"));
}

}  // namespace
}  // namespace dash::jobs
