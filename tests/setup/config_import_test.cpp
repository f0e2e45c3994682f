#include <gtest/gtest.h>

#include "core/config/registry.hpp"
#include "core/config/vault_reference.hpp"
#include "core/crypto/hash.hpp"
#include "tests/setup/config_fixture.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/instance.hpp"

namespace dash::setup {
namespace {

TEST_F(SetupSurface, StoresValuesAsTextAndSkipsNullAndMaskedOnes) {
  auto report =
      import(R"({"demo_text":"hello","demo_true":true,"demo_false":false,"demo_int":42,"demo_float":1.5,
      "demo_null":null,"demo_list":["a",1],"demo_empty":"","wlc_pat":"••••••••","one_bullet":"•x"})");
  EXPECT_EQ(report.keys_written, 8u);
  EXPECT_EQ(values(), (config::Values{{"demo_text", "hello"},
                                      {"demo_true", "1"},
                                      {"demo_false", "0"},
                                      {"demo_int", "42"},
                                      {"demo_float", "1.5"},
                                      {"demo_list", R"(["a",1])"},
                                      {"demo_empty", ""},
                                      {"one_bullet", "•x"}}));
}

TEST_F(SetupSurface, TakesEitherSpellingAndKeepsTheCanonicalOne) {
  import(R"({"aws_access_key_id":"AKIA1","storage_s3_bucket":"b","storage_active_backend":"s3"})");
  EXPECT_EQ(values(), (config::Values{{"cloud1_access_key_id", "AKIA1"},
                                      {"storage_obj_cloud1_bucket", "b"},
                                      {"storage_active_backend", "obj_cloud1"}}));
}

TEST_F(SetupSurface, RefusesHeldBackKeysAndWritesTheRest) {
  auto report =
      import(R"({"public_base_url":"https://x","rancher_api_token":"t","log_dir":"/var","fine":"1"})");
  EXPECT_EQ(report.refused, (std::map<std::string, std::string>{{"public_base_url", "instance_local"},
                                                                {"rancher_api_token", "runtime_handle"},
                                                                {"log_dir", "local_path"}}));
  EXPECT_EQ(values(), (config::Values{{"fine", "1"}}));
}

TEST_F(SetupSurface, AnswersBadRequestWhenEveryKeyIsRefused) {
  auto report = import(R"({"setup_complete":"0","jwt_secret_key":"x"})");
  EXPECT_TRUE(report.is_all_refused);
  auto detail = to_json(report)["detail"].get<std::string>();
  EXPECT_NE(detail.find("setup_complete (instance_local)"), std::string::npos) << detail;
  EXPECT_TRUE(values().empty());
}

TEST_F(SetupSurface, HoldsOnPremisesTargetsOnlyWhenTheClientAsksForIt) {
  EXPECT_TRUE(import(R"({"vsphere_host":"h","other":"1"})").refused.empty());
  auto held = import(R"({"proxmox_host":"h","other":"2"})", {.include_on_prem = false});
  EXPECT_EQ(held.refused, (std::map<std::string, std::string>{{"proxmox_host", "on_prem"}}));
}

TEST_F(SetupSurface, MergesRegionKeysFieldByFieldAndNeverDeletes) {
  import(R"({"cloud1_region.us-east-1.vpc_id":"vpc-1","cloud1_region.us-east-1.vpc_cidr":"10.0.0.0/16"})");
  auto report = import(
      R"({"aws_region.US-East-1.vpc_id":"vpc-2","aws_region.eu-west-1.vpc_id":"vpc-3","aws_region.us-east-1.vpc_cidr":"  "})");
  EXPECT_EQ(report.keys_written, 0u);
  EXPECT_EQ(report.regions_merged, (std::vector<std::string>{"US-East-1", "eu-west-1", "us-east-1"}));
  EXPECT_EQ(
      values()["cloud1_region_configs"],
      R"({"eu-west-1": {"vpc_id": "vpc-3"}, "us-east-1": {"vpc_cidr": "10.0.0.0/16", "vpc_id": "vpc-2"}})");
}

TEST_F(SetupSurface, KeepsDotsInRegionNamesAndFieldsOfTheFourthCloud) {
  import(R"({"cloud1_region.us.east.vpc_id":"v","cloud4_region.eu-frankfurt-1.vcn":"o"})");
  EXPECT_EQ(values()["cloud1_region_configs"], R"({"us.east": {"vpc_id": "v"}})");
  EXPECT_EQ(values()["cloud4_region_configs"], R"({"eu-frankfurt-1": {"vcn": "o"}})");
}

TEST_F(SetupSurface, ReplacesASetByItsBlobUnlessAMergeIsAsked) {
  import(R"({"cloud2_region.westus2.gallery_name":"g"})");
  auto blob = R"({"azure_region_configs":"{\"West US 2\":{\"resource_group\":\"rg\"}}"})";
  import(blob, {.replace_regions = false});
  EXPECT_EQ(values()["cloud2_region_configs"],
            R"({"westus2": {"gallery_name": "g", "resource_group": "rg"}})");
  import(blob);
  EXPECT_EQ(values()["cloud2_region_configs"], R"({"westus2": {"resource_group": "rg"}})");
}

TEST_F(SetupSurface, RefusesAnEmptySetUnlessReplacementIsAsked) {
  import(R"({"cloud2_region.westus2.gallery_name":"g"})");
  auto report = import(R"({"cloud2_region_configs":"{}","cloud1_region_configs":" ","fine":"1"})");
  EXPECT_EQ(report.refused,
            (std::map<std::string, std::string>{{"cloud1_region_configs", "empty_region_set"},
                                                {"cloud2_region_configs", "empty_region_set"}}));
  EXPECT_EQ(values()["cloud2_region_configs"], R"({"westus2": {"gallery_name": "g"}})");
  EXPECT_TRUE(import(R"({"cloud2_region_configs":"{}"})", {.replace_regions = true}).refused.empty());
  EXPECT_EQ(values()["cloud2_region_configs"], "{}");
}

TEST_F(SetupSurface, DropsAMaskThatStandsForNothing) {
  import(R"({"cloud1_region_configs":"{\"r\":{\"admin_password\":\"••••••••\",\"vpc_id\":\"v\"}}"})");
  EXPECT_EQ(values()["cloud1_region_configs"], R"({"r": {"vpc_id": "v"}})");
}

TEST_F(SetupSurface, NamesRegionKeysThatItCannotPlace) {
  auto report = import(R"({"cloud2_region.westeurope":"x","cloud1_region_configs":"[1","fine":"1"})");
  EXPECT_EQ(report.refused,
            (std::map<std::string, std::string>{{"cloud1_region_configs", "malformed_region_set"},
                                                {"cloud2_region.westeurope", "invalid_region_key"}}));
}

TEST_F(SetupSurface, RefusesAKeyThatIsGivenInBothSpellingsWithDifferentValues) {
  auto report = import(R"({"aws_access_key_id":"a","cloud1_access_key_id":"b"})");
  EXPECT_EQ(report.refused.size(), 1u);
  EXPECT_EQ(report.refused.begin()->second, "given_twice");
}

TEST_F(SetupSurface, AuditsAnImportWithNamesAndNoValues) {
  import(R"({"cloud1_secret_access_key":"very-secret"})");
  EXPECT_EQ(i_.audited("config.import"), 1);
  auto details = must(db::read<std::string>(*i_.sql, [](db::Transaction& tx) -> Result<std::string> {
    return TRY(tx.query("SELECT details FROM audit_log WHERE action = 'config.import'"))[0].text(0);
  }));
  EXPECT_NE(details.find("cloud1_secret_access_key"), std::string::npos);
  EXPECT_EQ(details.find("very-secret"), std::string::npos);
}

TEST_F(SetupSurface, ImportsTheSameTwiceWithoutAChange) {
  auto config = R"({"a":"1","cloud1_region.us-east-1.vpc_id":"v"})";
  EXPECT_NE(import(config).change_id, "");
  EXPECT_EQ(import(config).change_id, "");
}

}  // namespace
}  // namespace dash::setup
