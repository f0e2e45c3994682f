#include "core/config/clouds.hpp"

#include <gtest/gtest.h>

#include <random>

#include "core/config/registry.hpp"

namespace dash::config {
namespace {

TEST(CloudNames, EachRegisteredKeyGoesToItsAliasAndBack) {
  for (const auto& info : registered_keys()) {
    auto alias = info.alias.empty() ? info.key : info.alias;
    EXPECT_EQ(provider_key(info.key), alias);
    EXPECT_EQ(canonical_key(alias), info.key);
    EXPECT_EQ(canonical_key(info.key), info.key);
  }
}

TEST(CloudNames, ACloudsNameInsideOfAKeyStays) {
  EXPECT_EQ(canonical_key("k8s_runner_aws"), "k8s_runner_aws");
  EXPECT_EQ(canonical_key("promote_runner_oci_subnet_ocid"), "promote_runner_oci_subnet_ocid");
  EXPECT_EQ(provider_key("cloud_identity_aws_enabled"), "cloud_identity_aws_enabled");
  EXPECT_EQ(provider_key("cloud_functions_enabled"), "cloud_functions_enabled");
  EXPECT_EQ(canonical_key("ansible_ecs_cluster"), "ansible_ecs_cluster");
}

TEST(CloudNames, KeysOutsideOfTheRegistryFollowThePrefixes) {
  EXPECT_EQ(canonical_key("azure_brand_new"), "cloud2_brand_new");
  EXPECT_EQ(provider_key("storage_obj_cloud4_brand_new"), "storage_oci_brand_new");
  EXPECT_EQ(canonical_key("aws_region.us.east.vpc_id"), "cloud1_region.us.east.vpc_id");
  EXPECT_EQ(canonical_key("ansible_runner_image"), "automation_runner_image");
}

TEST(CloudNames, AnyTextSettlesInOneStep) {
  std::mt19937 random(7);
  const std::vector<std::string> pieces = {"aws",  "azure",    "cloud1",      "cloud2",      "_", ".",
                                           "oci_", "storage_", "obj_cloud3_", "gcs_",        "x", "region",
                                           "s3_",  "ansible_", "runner",      "automation_", "é", ""};
  for (int i = 0; i < 20000; ++i) {
    std::string key;
    for (int n = static_cast<int>(random() % 6); n >= 0; --n) key += pieces[random() % pieces.size()];
    auto canonical = canonical_key(key);
    EXPECT_EQ(canonical_key(canonical), canonical) << key;
    EXPECT_EQ(canonical_key(provider_key(canonical)), canonical) << key;
  }
}

TEST(CloudNames, BackendsAndCloudsHaveBothNames) {
  EXPECT_EQ(canonical_backend("oci_object_storage"), "obj_cloud4");
  EXPECT_EQ(provider_backend("obj_cloud2"), "azure_blob");
  EXPECT_EQ(canonical_backend("local"), "local");
  EXPECT_EQ(canonical_cloud("gcp"), "cloud3");
  EXPECT_EQ(provider_cloud("cloud1"), "aws");
}

TEST(CloudNames, ActionsHaveBothNames) {
  EXPECT_EQ(canonical_action("aws:ec2:deploy"), "cloud1:vm:deploy");
  EXPECT_EQ(canonical_action("azure:vm:destroy"), "cloud2:vm:destroy");
  EXPECT_EQ(provider_action("cloud3:vm:deploy"), "gcp:gce:deploy");
  EXPECT_EQ(provider_action("cloud4:compute:destroy"), "oci:compute:destroy");
  EXPECT_EQ(canonical_action("db:deploy"), "db:deploy");
}

TEST(CloudNames, ValuesThatAreNamesFollow) {
  EXPECT_EQ(canonical_value("storage_active_backend", " gcs "), "obj_cloud3");
  EXPECT_EQ(provider_value("storage_hub_backend", "obj_cloud1"), "s3");
  EXPECT_EQ(canonical_value("admission_gated_actions", "aws:ec2:deploy, oci:compute:destroy"),
            "cloud1:vm:deploy, cloud4:compute:destroy");
  EXPECT_EQ(provider_value("admission_gated_actions", R"(["cloud2:vm:deploy"])"), R"(["azure:vm:deploy"])");
  EXPECT_EQ(canonical_value("bt_jump_group", "s3"), "s3");
}

}  // namespace
}  // namespace dash::config
