#include "core/jobs/resolve_deploy.hpp"

#include <fstream>

#include "tests/support/jobs_fixture.hpp"

namespace dash::jobs {
namespace {

class Plan_ : public JobsFixture {
 protected:
  Json judged(std::string action, const Json& body) {
    must(jobs_.submit(root_, {std::move(action), body, ""}));
    return gate_.calls.back().request;
  }
};

TEST_F(Plan_, FillsInWhatWillBeBuilt) {
  EXPECT_EQ(
      judged("cloud1:vm:deploy", {{"ami_id", "ami-9"}, {"instance_name", "web"}}),
      Json::parse(
          R"({"region":"us-east-2","instance_type":"t3.medium","image":"ami-9","name":"web","workgroup":null,"count":1,"batch":false})"));
  set("cloud1_region", "eu-central-1");
  EXPECT_EQ(judged("cloud1:vm:deploy", {{"image", "a"}, {"name", "web"}})["region"], "eu-central-1");
  EXPECT_EQ(
      judged("cloud2:vm:deploy", {{"location", "East US"}, {"vm_name", "w"}, {"image_id", "i"}})["region"],
      "East US");
  EXPECT_EQ(judged("cloud2:vm:deploy", {{"vm_name", "w"}, {"image_id", "i"}})["instance_type"],
            "Standard_B2s");
  auto third = judged("cloud3:vm:deploy", {{"zone", "us-central1-f"},
                                           {"machine_type", "n2-standard-8"},
                                           {"image_self_link", "i"},
                                           {"instance_name", "w"}});
  EXPECT_EQ(third["region"], "us-central1");
  EXPECT_EQ(third["zone"], "us-central1-f");
  EXPECT_EQ(third["instance_type"], "n2-standard-8");
  EXPECT_EQ(judged("cloud3:vm:deploy", {{"image", "i"}, {"name", "w"}})["zone"], "us-central1-a");
  EXPECT_EQ(judged("cloud4:compute:deploy",
                   {{"image_ocid", "o"}, {"instance_name", "w"}, {"shape", "VM.Standard3.Flex"}})["region"],
            "us-ashburn-1");
  auto database =
      judged("clouddb:provision",
             {{"cloud", "azure"}, {"name", "d"}, {"engine", "postgres"}, {"sku_name", "GP_Gen5_2"}});
  EXPECT_EQ(database["instance_type"], "GP_Gen5_2");
  EXPECT_EQ(database["region"], "centralus");
  EXPECT_EQ(database["cloud"], "cloud2");
  EXPECT_EQ(judged("k8s:provision",
                   {{"name", "k"}, {"node_instance_type", "m5.large"}, {"node_count", 3}})["node_count"],
            3);
}

TEST_F(Plan_, RefusesTwoSpellingsThatDisagree) {
  for (const auto& [action, body] : std::vector<std::pair<std::string, Json>>{
           {"cloud1:vm:deploy", machine({{"ami_id", "ami-2"}})},
           {"cloud2:vm:deploy", machine({{"vm_size", "Standard_D96"}})},
           {"cloud2:vm:deploy", machine({{"location", "westeurope"}})},
           {"cloud3:vm:deploy", machine({{"region", "us-central1"}, {"zone", "europe-west1-b"}})},
           {"clouddb:provision",
            {{"name", "d"}, {"instance_class", "db.t3.micro"}, {"tier", "db-n1-highmem-96"}}}})
    EXPECT_EQ(jobs_.submit(root_, {action, body, ""}).error().code, Code::validation) << action;
  EXPECT_TRUE(gate_.calls.empty());
  EXPECT_TRUE(deploy(machine({{"ami_id", "ami-1"}})));
}

TEST_F(Plan_, RefusesWhatIsNoDeploy) {
  for (const auto& body : {Json::array(), Json{{"image", "i"}}, Json{{"name", "n"}}, machine({{"name", 7}}),
                           machine({{"region", Json::array({"a"})}}), machine({{"count", 0}}),
                           machine({{"count", 21}}), machine({{"count", "2"}})})
    EXPECT_EQ(deploy(body).error().code, Code::validation) << dump_json(body);
  EXPECT_EQ(deploy(machine({{"region", "../etc"}})).error().code, Code::invalid);
  EXPECT_EQ(count_jobs(), 0);
}

TEST_F(Plan_, SealsWhatMayBeAPassword) {
  deployed(machine({{"admin_password", "hunter2-secret"}}));
  std::ifstream in(scratch_ / "dashctl.db-wal", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  EXPECT_FALSE(bytes.empty());
  EXPECT_EQ(bytes.find("hunter2-secret"), std::string::npos);
}

}  // namespace
}  // namespace dash::jobs
