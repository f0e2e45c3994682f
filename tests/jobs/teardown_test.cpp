// Which machine a teardown means, and which users may request it.
#include "core/base/file.hpp"
#include "core/jobs/machines.hpp"
#include "core/jobs/worker.hpp"
#include "tests/support/jobs_fixture.hpp"

namespace dash::jobs {
namespace {

struct Cloud {
  std::string_view name, deploy, destroy;
  std::string_view first_id, second_id;
  Json first, second;             // places in a deploy's body
  std::string_view region, zone;  // of the first, folded
};

std::vector<Cloud> clouds() {
  return {{"cloud1",
           "cloud1:vm:deploy",
           "aws:ec2:destroy",
           "i-0a1",
           "i-0b2",
           {{"region", "us-east-1"}},
           {{"region", "eu-west-1"}},
           "us-east-1",
           ""},
          {"cloud2",
           "azure:vm:deploy",
           "cloud2:vm:destroy",
           "/subscriptions/s/vm/1",
           "/subscriptions/s/vm/2",
           {{"location", "East US"}},
           {{"region", "westeurope"}},
           "eastus",
           ""},
          {"cloud3",
           "cloud3:vm:deploy",
           "gcp:gce:destroy",
           "projects/p/zones/us-central1-a/instances/w",
           "projects/p/zones/us-central1-b/instances/w",
           {{"zone", "us-central1-a"}},
           {{"zone", "us-central1-b"}},
           "us-central1",
           "us-central1-a"},
          {"cloud4",
           "oci:compute:deploy",
           "cloud4:compute:destroy",
           "ocid1.instance.oc1..a",
           "ocid1.instance.oc1..b",
           {{"region", "us-ashburn-1"}},
           {{"region", "uk-london-1"}},
           "us-ashburn-1",
           ""}};
}

void PrintTo(const Cloud& cloud, std::ostream* out) { *out << cloud.name; }

class Teardown : public JobsFixture, public testing::WithParamInterface<Cloud> {
 protected:
  Teardown() {
    must(sql_->write([&](db::Transaction& tx) { return directory_.make_workgroup(tx, "team-b", ""); }));
  }
  // A completed deploy of that name.
  Job stands(const Principal& principal, std::string name, const Json& place, std::string_view resource_id,
             Json more = {}) {
    Json body = {{"name", std::move(name)}, {"image", "i"}};
    body.update(place);
    if (more.is_object()) body.update(more);
    auto made = must(jobs_.submit(principal, {std::string(GetParam().deploy), body, ""})).jobs.at(0);
    must(sql_->write([&](db::Transaction& tx) -> Result<void> {
      auto id = resource_id.empty() ? db::Value(nullptr) : db::Value(std::string(resource_id));
      TRY(tx.exec("UPDATE jobs SET state = 'completed', completed_at = 1, resource_id = $2 WHERE id = $1",
                  {made.id, id}));
      return {};
    }));
    return job(made.id);
  }
  Result<SubmitResult> tear_down(const Principal& principal, std::string_view target,
                                 const Json& query = Json::object()) {
    return jobs_.submit(principal, {std::string(GetParam().destroy), query, std::string(target)});
  }
  Json first_place() const {
    const auto& cloud = GetParam();
    return cloud.zone.empty() ? Json{{"region", cloud.region}} : Json{{"zone", cloud.zone}};
  }
  // What the executor of `action` read; runs one job.
  Json run(const std::string& action) {
    auto path = scratch_ / "deploy/" + action;
    std::filesystem::create_directories(scratch_ / "deploy");
    must(write_file(path, "#!/bin/sh\ncat > " + scratch_ / "input" + "\n", 0755));
    EXPECT_TRUE(must(Worker(deps_, Executors(scratch_ / "deploy", ""), "w").work(stop_)));
    return must(parse_json(must(read_file(scratch_ / "input", 1 << 20))));
  }
  std::string executor() const {
    std::string name(config::canonical_action(GetParam().destroy));
    std::ranges::replace(name, ':', '-');
    return name;
  }
  Principal dave_ = user("dave", {}, {"team-b"});
  Principal both_ = user("both", {}, {"team-a", "team-b"});
  std::atomic<bool> stop_ = false;
};

INSTANTIATE_TEST_SUITE_P(Clouds, Teardown, testing::ValuesIn(clouds()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(Teardown, TheMachineOfAnotherWorkgroupIsNotReachedThroughOnesOwnOfThatName) {
  const auto& cloud = GetParam();
  stands(carol_, "web-1", cloud.first, cloud.first_id);
  auto own = stands(dave_, "web-1", cloud.second, cloud.second_id);
  gate_.calls.clear();
  for (const auto& query : {first_place(), Json::object()}) {
    auto refused = tear_down(dave_, "web-1", query);
    ASSERT_FALSE(refused) << dump_json(query);
    EXPECT_EQ(refused.error().code, Code::forbidden);
    EXPECT_NE(refused.error().message.find("resource id, or its zone"), std::string::npos);
  }
  EXPECT_EQ(tear_down(dave_, cloud.first_id).error().code, Code::forbidden);
  EXPECT_TRUE(gate_.calls.empty()) << "refused before the gate";
  auto done = must(tear_down(dave_, "web-1", cloud.second)).jobs.at(0);
  EXPECT_EQ(done.resource_id, cloud.second_id);
  EXPECT_EQ(done.region, own.region);
  must(tear_down(carol_, "web-1", first_place()));
}

TEST_P(Teardown, WhatIsJudgedRecordedAndExecutedIsOneMachine) {
  const auto& cloud = GetParam();
  auto deploy = stands(carol_, "web-1", cloud.first, cloud.first_id);
  stands(carol_, "web-1", cloud.second, cloud.second_id);
  auto made = must(tear_down(carol_, "web-1", first_place())).jobs.at(0);
  const auto& judged = gate_.calls.back().request;
  EXPECT_EQ(judged["resource_id"], cloud.first_id);
  EXPECT_EQ(judged["region"], cloud.region);
  EXPECT_EQ(judged.value("zone", ""), cloud.zone);
  EXPECT_EQ(judged["workgroup"], "team-a");
  EXPECT_EQ(judged["has_deploy_job"], true);
  auto recorded = job(made.id);
  EXPECT_EQ(recorded.request, judged);
  EXPECT_EQ(recorded.resource_id, cloud.first_id);
  EXPECT_EQ(recorded.region, cloud.region);
  auto document = run(executor());
  EXPECT_EQ(document["resource_id"], cloud.first_id);
  EXPECT_EQ(document["parameters"], Json({{"resource_id", cloud.first_id}, {"deploy_job_id", deploy.id}}));
  EXPECT_EQ(document["request"], judged);
  EXPECT_EQ(document["region"], cloud.region);
  EXPECT_EQ(document["zone"], cloud.zone.empty() ? Json(nullptr) : Json(cloud.zone));
}

TEST_P(Teardown, AResourceIdMatchesBeforeAName) {
  const auto& cloud = GetParam();
  stands(carol_, "web-1", cloud.first, cloud.first_id);
  // Named before such names were refused.
  auto old = stands(dave_, "web-2", cloud.second, cloud.second_id);
  auto rename = [&](const std::string& set) {
    must(sql_->write([&](db::Transaction& tx) -> Result<void> {
      TRY(tx.exec("UPDATE jobs SET " + set + " WHERE id = $2", {std::string(cloud.first_id), old.id}));
      return {};
    }));
  };
  rename("name = $1");
  EXPECT_EQ(tear_down(dave_, cloud.first_id).error().code, Code::forbidden);
  EXPECT_EQ(must(tear_down(carol_, cloud.first_id)).jobs.at(0).resource_id, cloud.first_id);
  EXPECT_EQ(must(tear_down(dave_, cloud.second_id)).jobs.at(0).resource_id, cloud.second_id);
}

TEST_P(Teardown, AnOldNameOfThatFormNeverStandsForAMachineWithoutADeploy) {
  const auto& cloud = GetParam();
  auto old = stands(dave_, "web-2", cloud.second, "");
  must(sql_->write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec("UPDATE jobs SET name = $1 WHERE id = $2", {std::string(cloud.first_id), old.id}));
    return {};
  }));
  EXPECT_EQ(tear_down(dave_, cloud.first_id).error().code, Code::forbidden);
  must(tear_down(root_, cloud.first_id));
  EXPECT_EQ(gate_.calls.back().request["has_deploy_job"], false);
}

TEST_P(Teardown, SeveralMachinesOfOneNameAreAConflictThatNamesThem) {
  const auto& cloud = GetParam();
  stands(carol_, "web-1", cloud.first, cloud.first_id);
  stands(dave_, "web-1", cloud.second, cloud.second_id);
  for (const auto& principal : {root_, both_}) {
    auto refused = tear_down(principal, "web-1");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::conflict);
    for (auto id : {cloud.first_id, cloud.second_id})
      EXPECT_NE(refused.error().message.find(id), std::string::npos) << refused.error().message;
    EXPECT_EQ(must(tear_down(principal, "web-1", first_place())).jobs.at(0).resource_id, cloud.first_id);
    EXPECT_EQ(must(tear_down(principal, cloud.second_id)).jobs.at(0).resource_id, cloud.second_id);
  }
  // Of several records of one machine the newest counts.
  auto newest = stands(dave_, "web-1", cloud.second, cloud.second_id);
  auto again = must(tear_down(root_, cloud.second_id));
  EXPECT_NE(run(executor())["parameters"]["deploy_job_id"], newest.id) << "an earlier one runs first";
}

TEST_P(Teardown, WithoutADeployItIsJudgedByWhatTheRequestSays) {
  const auto& cloud = GetParam();
  set("cloud1_region", "eu-central-1");
  must(tear_down(root_, "stranger"));
  EXPECT_EQ(gate_.calls.back().request,
            Json({{"region", ""}, {"name", "stranger"}, {"workgroup", nullptr}, {"has_deploy_job", false}}));
  auto made = must(tear_down(root_, cloud.first_id, cloud.first)).jobs.at(0);
  const auto& judged = gate_.calls.back().request;
  EXPECT_EQ(judged["region"], cloud.region);
  EXPECT_EQ(judged.value("zone", ""), cloud.zone);
  EXPECT_EQ(judged["resource_id"], cloud.first_id);
  EXPECT_EQ(made.region, cloud.region);
  EXPECT_EQ(tear_down(carol_, "stranger").error().code, Code::forbidden);
  // Carol's machine is elsewhere: no deploy made the one that she names.
  stands(carol_, "web-1", cloud.first, cloud.first_id);
  EXPECT_EQ(tear_down(carol_, "web-1", cloud.second).error().code, Code::forbidden);
  must(tear_down(root_, "web-1", cloud.second));
  EXPECT_EQ(gate_.calls.back().request["has_deploy_job"], false);
}

TEST_P(Teardown, RefusesAPlaceThatIsNone) {
  stands(carol_, "web-1", GetParam().first, GetParam().first_id);
  gate_.calls.clear();
  for (const auto& query : {Json{{"zone", "nonsense x"}}, Json{{"region", "../etc"}}, Json{{"zone", "a\nb"}},
                            Json{{"zone", std::string(2000, 'a')}}})
    for (const auto& principal : {root_, carol_}) {
      auto refused = tear_down(principal, "web-1", query);
      ASSERT_FALSE(refused) << dump_json(query);
      EXPECT_EQ(refused.error().code, Code::validation);
      EXPECT_EQ(refused.error().body->at(0)["loc"],
                OrderedJson({"query", query.contains("zone") ? "zone" : "region"}));
    }
  EXPECT_TRUE(gate_.calls.empty());
  EXPECT_EQ(count_jobs(), 1);
  must(tear_down(carol_, "web-1", {{"zone", " "}, {"region", ""}}));
}

TEST_P(Teardown, NoNewMachineIsNamedLikeAResourceId) {
  const auto& cloud = GetParam();
  Json good = {{"name", "web-1"}, {"image", "i"}};
  auto deploy = [&](Json body, bool is_bulk = false) {
    body.update(cloud.first);
    return jobs_.submit(root_, {std::string(cloud.deploy), body, "", is_bulk});
  };
  for (auto id : {cloud.first_id, cloud.second_id}) {
    Json bad = {{"name", " " + std::string(id)}, {"image", "i"}};
    EXPECT_EQ(deploy(bad).error().code, Code::validation) << id;
    bad["count"] = 2;
    EXPECT_EQ(deploy(bad).error().code, Code::validation) << id;
    auto bulk = deploy({{"image", "i"}, {"items", {{{"name", "web-1"}}, {{"name", id}}}}}, true);
    ASSERT_FALSE(bulk);
    EXPECT_EQ(bulk.error().body->at(0)["loc"], OrderedJson({"body", "items", 1, "name"}));
  }
  EXPECT_EQ(count_jobs(), 0);
  for (auto name : {"i-web", "i-", "ocid1", "subscriptions", "project-x", "web-1"}) {
    good["name"] = name;
    EXPECT_TRUE(deploy(good)) << name;
  }
}

TEST_P(Teardown, OnlyTheMachineThatWasMeantIsGone) {
  const auto& cloud = GetParam();
  // An executor that names its machines by their name alone.
  stands(carol_, "web-1", cloud.first, "web-1");
  auto other = stands(carol_, "web-1", cloud.second, "web-1");
  must(tear_down(carol_, "web-1", first_place()));
  run(executor());
  must(tear_down(carol_, "web-1"));
  EXPECT_EQ(gate_.calls.back().request["has_deploy_job"], true);
  EXPECT_EQ(gate_.calls.back().request["region"], other.region);
}

TEST_P(Teardown, ASecondTeardownOfAMachineThatIsGoneDoesNotRun) {
  const auto& cloud = GetParam();
  stands(carol_, "web-1", cloud.first, "");
  must(tear_down(carol_, "web-1"));
  auto late = must(tear_down(carol_, "web-1")).jobs.at(0);
  run(executor());
  // Another user's new machine of the same name and place.
  stands(dave_, "web-1", cloud.first, "");
  EXPECT_FALSE(must(Worker(deps_, Executors(scratch_ / "deploy", ""), "w").work(stop_)));
  EXPECT_EQ(state(late.id), State::cancelled);
  EXPECT_EQ(job(late.id).reason, "already_removed");
}

TEST_P(Teardown, AnExecutorCannotGiveATeardownAnotherMachine) {
  const auto& cloud = GetParam();
  stands(carol_, "web-1", cloud.first, cloud.first_id);
  auto made = must(tear_down(carol_, "web-1")).jobs.at(0);
  std::filesystem::create_directories(scratch_ / "deploy");
  must(write_file(scratch_ / "deploy/" + executor(), "#!/bin/sh\necho '{\"resource_id\": \"other\"}'\n",
                  0755));
  EXPECT_TRUE(must(Worker(deps_, Executors(scratch_ / "deploy", ""), "w").work(stop_)));
  EXPECT_EQ(job(made.id).resource_id, cloud.first_id);
}

}  // namespace
}  // namespace dash::jobs
