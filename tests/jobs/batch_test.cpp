#include "core/jobs/batch.hpp"

#include "core/config/clouds.hpp"
#include "core/jobs/worker.hpp"
#include "tests/support/jobs_fixture.hpp"

namespace dash::jobs {
namespace {

using Strings = std::vector<std::string>;

class Batch : public JobsFixture {
 protected:
  Result<SubmitResult> bulk(const Json& items, Json shared = Json::object(),
                            std::string action = "cloud1:vm:deploy") {
    shared["items"] = items;
    return jobs_.submit(carol_, {std::move(action), shared, "", true});
  }
  static Json item(std::string name, Json more = Json::object()) {
    Json out{{"name", std::move(name)}, {"image", "ami-1"}};
    out.update(more);
    return out;
  }
  Strings names(const Json& body, std::string action = "cloud1:vm:deploy") {
    Strings out;
    for (const auto& job : must(jobs_.submit(alice_, {std::move(action), body, ""})).jobs)
      out.push_back(job.name);
    return out;
  }
  void finish(const std::string& id, std::string_view state) {
    must(sql_->write([&](db::Transaction& tx) -> Result<void> {
      TRY(tx.exec("UPDATE jobs SET state = $2, started_at = 1, completed_at = 2 WHERE id = $1",
                  {id, std::string(state)}));
      return {};
    }));
  }
};

TEST_F(Batch, CutsTheNameToWhatTheCloudAllows) {
  EXPECT_EQ(names(machine({{"name", std::string(400, 'a')}, {"count", 2}}))[0],
            std::string(252, 'a') + "-01");
  Json windows{{"vm_name", "a-name-of-twenty-ch"}, {"image", "i"}, {"count", 2}};
  EXPECT_EQ(names(windows, "cloud2:vm:deploy"), (Strings{"a-name-of-tw-01", "a-name-of-tw-02"}));
  Json label{{"name", std::string(80, 'b')}, {"image", "i"}, {"count", 20}};
  EXPECT_EQ(names(label, "cloud3:vm:deploy").back(), std::string(60, 'b') + "-20");
  EXPECT_EQ(deploy(machine({{"name", "ab"}, {"count", 2}})).error().code, Code::invalid);
}

TEST_F(Batch, CutsNoCharacterInTwo) {
  auto cut =
      names({{"vm_name", "aaaaaaaaaaa\xc3\xa9\xc3\xa9"}, {"image", "i"}, {"count", 2}}, "cloud2:vm:deploy");
  EXPECT_EQ(cut[0], "aaaaaaaaaaa-01");
}

TEST_F(Batch, TakesItemsThatDiffer) {
  auto made = must(bulk({item("web"), item("db", {{"vm_size", "unused"}, {"instance_type", "m5.large"}})},
                        {{"region", "eu-west-1"}, {"workgroup", "team-a"}, {"ssh_key", "k"}}));
  ASSERT_EQ(made.jobs.size(), 2u);
  EXPECT_EQ(made.jobs[0].request["instance_type"], "t3.medium");
  EXPECT_EQ(made.jobs[1].request["instance_type"], "m5.large");
  EXPECT_EQ(made.jobs[1].workgroup, "team-a");
  for (const auto& asked : gate_.calls) {
    EXPECT_EQ(asked.request["count"], 2);
    EXPECT_EQ(asked.request["batch"], true);
    EXPECT_EQ(asked.request["workgroup"], "team-a");
    EXPECT_EQ(asked.request["region"], "eu-west-1");
  }
  auto out = to_json(made);
  EXPECT_EQ(out["batch_id"].get<std::string>().size(), 12u);
  EXPECT_EQ(out["job_id"], out["batch_id"]);
  EXPECT_EQ(out["names"], OrderedJson({"web", "db"}));
}

TEST_F(Batch, LetsAnItemSpeakTheOtherSpelling) {
  auto made = must(
      bulk(Json::array({item("a", {{"location", "West US"}})}), {{"region", "eastus"}}, "cloud2:vm:deploy"));
  EXPECT_EQ(made.jobs[0].region, "westus");
  made = must(bulk(Json::array({item("b", {{"zone", "europe-west1-b"}})}), {{"region", "us-central1"}},
                   "cloud3:vm:deploy"));
  EXPECT_EQ(made.jobs[0].region, "europe-west1");
}

TEST_F(Batch, NamesTheItemThatIsWrong) {
  auto refused = bulk({item("a"), {{"image", "i"}}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::validation);
  EXPECT_EQ(dump_json(refused.error().body->at(0).at("loc")), R"(["body","items",1,"name"])");
  EXPECT_NE(bulk(Json::array({item("a", {{"region", "../x"}})})).error().message.find("items[0]"),
            std::string::npos);
  for (const auto& items :
       {Json::array(), Json("x"), Json(nullptr), Json::array({1}), Json::array({item("a", {{"count", 2}})}),
        Json::array({item("a", {{"run_at", "2027-01-01T00:00"}})})})
    EXPECT_EQ(bulk(items).error().code, Code::validation) << dump_json(items);
  EXPECT_EQ(bulk(Json(21, item("a"))).error().code, Code::validation);
  EXPECT_EQ(jobs_.submit(alice_, {"cloud1:vm:deploy", Json::array(), "", true}).error().code,
            Code::validation);
  // For an admin a missing workgroup means none.
  Json mixed = {{"items", {item("a"), item("b", {{"workgroup", "team-a"}})}}};
  EXPECT_EQ(jobs_.submit(root_, {"cloud1:vm:deploy", mixed, "", true}).error().code, Code::validation);
  EXPECT_EQ(count_jobs(), 0);
}

TEST_F(Batch, TellsTheReasonsOfAllItemsAndWhoseTheyAre) {
  gate_.on_evaluate = [](const FakeGate::Call& asked) {
    auto name = asked.request["name"].get<std::string>();
    if (name == "b") return FakeGate::of(policy::Verdict::allow, {}, {});
    return FakeGate::of(policy::Verdict::deny,
                        name == "c" ? Strings{"too far", "too big"} : Strings{"too far"}, {});
  };
  auto refused = bulk({item("a"), item("b"), item("c")});
  ASSERT_FALSE(refused);
  EXPECT_EQ(dump_json(*refused.error().body),
            R"({"error":"policy","reasons":["a, c: too far","c: too big"]})");
  EXPECT_EQ(gate_.calls.size(), 3u);
  EXPECT_EQ(count_jobs(), 0);
  auto entries = must(audit::list(audit_, root_, {})).entries;
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].action, "cloud1:vm:deploy:denied");
  auto details = must(parse_json(entries[0].details));
  EXPECT_EQ(details["names"], Json({"a", "c"}));
  EXPECT_EQ(details["request"]["name"], "a");
}

TEST_F(Batch, CannotWaitForTheRulesApproval) {
  gate_.on_evaluate = [](const FakeGate::Call& asked) {
    bool held = asked.request["name"] == "b";
    auto out =
        FakeGate::of(held ? policy::Verdict::needs_approval : policy::Verdict::allow, {}, {"look twice"});
    out.enforce_needs_approval = true;
    return out;
  };
  for (const auto& items : {Json::array({item("a"), item("b")}), Json::array({item("b")})}) {
    auto refused = bulk(items);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::needs_approval);
    EXPECT_EQ(refused.error().body->at("error"), "needs_approval");
    EXPECT_EQ(refused.error().body->at("reasons").at(0), items.size() == 2 ? "b: look twice" : "look twice");
  }
  EXPECT_EQ(count_jobs(), 0);
  EXPECT_EQ(audited(), Strings(2, "cloud1:vm:deploy:denied"));
}

TEST_F(Batch, KeepsToTheChangeWindowOfItsWorkgroup) {
  auto window = must(windows_.create(
      root_,
      {{"name", "nights"}, {"start_at_local", "02:00"}, {"duration_minutes", 60}, {"timezone", "UTC"}}));
  must(workgroups_.update(root_, "team-a", {{"change_window_id", window.id}}));
  set("admission_gated_actions", "aws:ec2:deploy");
  for (const auto& refused : {bulk(Json::array({item("a")}), {{"workgroup", "team-a"}}),
                              deploy_as(carol_, machine({{"count", 2}, {"workgroup", "team-a"}}))}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::change_window);
  }
  EXPECT_EQ(count_jobs(), 0);
  auto booked =
      must(bulk({item("a"), item("b")}, {{"workgroup", "team-a"}, {"change_window_id", window.id}}));
  for (const auto& job : booked.jobs) EXPECT_EQ(job.state, State::scheduled);
}

TEST_F(Batch, RefusesANameThatStandsOrIsOnItsWay) {
  deployed(machine({{"name", "web-02"}}));
  auto refused = deploy(machine({{"count", 3}}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(info(refused.error().code).http_status, 409);
  auto body = *refused.error().body;
  EXPECT_EQ(body["code"], "vm_name_collision");
  EXPECT_EQ(body["conflicts"], OrderedJson({"web-02"}));
  EXPECT_EQ(body["duplicates"], OrderedJson::array());
  EXPECT_EQ(body["names"], OrderedJson({"web-01", "web-02", "web-03"}));
  EXPECT_EQ(count_jobs(), 1);
  auto twice = bulk({item("a"), item("b"), item("a"), item("a")});
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().body->at("duplicates"), OrderedJson({"a"}));
  // One machine is never refused for its name, and another cloud's name is another machine.
  EXPECT_TRUE(deploy(machine({{"name", "web-02"}})));
  EXPECT_EQ(names({{"name", "web"}, {"image", "i"}, {"count", 3}}, "cloud3:vm:deploy").size(), 3u);
}

TEST_F(Batch, MayUseTheNameOfWhatFailedOrIsGone) {
  finish(deployed(machine({{"name", "web-01"}})).id, "failed");
  auto gone = deployed(machine({{"name", "web-02"}})).id;
  finish(gone, "completed");
  EXPECT_FALSE(deploy(machine({{"count", 2}})));
  must(sql_->write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec("UPDATE jobs SET destroyed_by = 'x' WHERE id = $1", {gone}));
    return {};
  }));
  EXPECT_TRUE(deploy(machine({{"count", 2}})));
}

TEST_F(Batch, IsShownAsOneJobOfWhatItsJobsAre) {
  auto made = must(deploy(machine({{"count", 3}})));
  auto batch = *made.jobs[0].batch_id;
  auto told = [&] { return to_json(must(jobs_.show(alice_, batch))); };
  EXPECT_EQ(told()["id"], batch);
  EXPECT_EQ(told()["job_type"], "cloud1:vm:bulk_deploy");
  EXPECT_EQ(to_json(must(jobs_.show(alice_, batch)), config::NameStyle::provider)["job_type"],
            "aws:ec2:bulk_deploy");
  EXPECT_EQ(told()["status"], "pending");
  finish(made.jobs[0].id, "completed");
  EXPECT_EQ(told()["status"], "running");
  finish(made.jobs[1].id, "failed");
  finish(made.jobs[2].id, "completed");
  EXPECT_EQ(told()["status"], "failed");
  EXPECT_EQ(told()["error_message"], "2 completed, 1 failed");
  EXPECT_EQ(must(jobs_.logs(alice_, batch, 1)).size(), 2u);
  EXPECT_EQ(jobs_.show(user("eve"), batch).error().code, Code::forbidden);
}

TEST_F(Batch, CountsItsJobsByState) {
  auto made = must(deploy(machine({{"count", 4}})));
  auto batch = *made.jobs[0].batch_id;
  finish(made.jobs[0].id, "completed");
  finish(made.jobs[1].id, "missed");
  finish(made.jobs[2].id, "running");
  EXPECT_EQ(
      dump_json(must(jobs_.count_batch(alice_, batch))),
      R"({"batch_id":")" + batch +
          R"(","total":4,"by_status":{"pending":1,"running":1,"completed":1,"failed":0,"cancelled":1}})");
  EXPECT_EQ(must(jobs_.count_batch(user("eve"), batch))["total"], 0);
  EXPECT_EQ(must(jobs_.count_batch(alice_, "nothing"))["total"], 0);
}

TEST_F(Batch, IsCancelledWhole) {
  auto made = must(deploy(machine({{"count", 3}})));
  auto batch = *made.jobs[0].batch_id;
  finish(made.jobs[0].id, "completed");
  EXPECT_EQ(jobs_.cancel(carol_, batch).error().code, Code::forbidden);
  EXPECT_EQ(must(jobs_.cancel(alice_, batch)).state, State::cancelled);
  EXPECT_EQ(state(made.jobs[0].id), State::completed);
  EXPECT_EQ(state(made.jobs[2].id), State::cancelled);
  EXPECT_EQ(jobs_.cancel(alice_, batch).error().code, Code::conflict);
}

TEST_F(Batch, IsApprovedWholeWhenItsBookingWaits) {
  set("change_approval_required", "true");
  auto made = must(deploy(machine({{"count", 3}, {"run_at", "2026-07-04T10:00"}})));
  auto batch = *made.jobs[0].batch_id;
  EXPECT_EQ(must(jobs_.show(alice_, batch)).state, State::awaiting_approval);
  EXPECT_EQ(jobs_.approve(alice_, batch, ApprovalKind::all).error().code, Code::forbidden);
  auto approved = must(jobs_.approve(bob_, batch, ApprovalKind::all));
  EXPECT_FALSE(approved.was_already_approved);
  EXPECT_EQ(approved.job.id, batch);
  for (const auto& job : made.jobs) EXPECT_EQ(state(job.id), State::scheduled);
}

TEST_F(Batch, IsMadeWholeOrNotAtAll) {
  // The audit log and the jobs share a transaction; a row that cannot be written undoes those before it.
  must(sql_->write([](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec("CREATE UNIQUE INDEX no_third ON jobs (action) WHERE name = 'web-03' OR name = 'web-02'"));
    return {};
  }));
  EXPECT_FALSE(deploy(machine({{"count", 3}})));
  EXPECT_EQ(count_jobs(), 0);
}

}  // namespace
}  // namespace dash::jobs
