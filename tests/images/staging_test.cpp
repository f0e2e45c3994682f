#include "core/images/staging.hpp"

#include <gtest/gtest.h>

#include "core/images/hub.hpp"
#include "tests/support/storage_instance.hpp"

namespace dash::images {
namespace {

class StagingTest : public ::testing::Test {
 protected:
  Result<Staging> open(std::string_view cloud) {
    auto hub = must(open_hub(one.storage.stores(), world.admin));
    return open_staging(one.storage.stores(), world.admin, hub, cloud);
  }
  std::string refusal(std::string_view cloud) {
    auto opened = open(cloud);
    return opened ? "" : opened.error().message;
  }
  storage::StorageFixture world;
  storage::Replica one{world};
};

TEST_F(StagingTest, IsBelowTheAssetBucketUnlessASettingNamesAnother) {
  for (auto cloud : {"cloud1", "aws", " AWS "}) {
    auto staging = must(open(cloud));
    EXPECT_EQ(staging.cloud, "cloud1");
    EXPECT_EQ(staging.at.prefix, "promote-staging/");
    EXPECT_EQ(staging.hub_bucket, "one");
  }
  world.set("promote_runner_gcp_staging_bucket", "imports");
  world.set("promote_runner_gcp_staging_prefix", "/in/raw/");
  auto staging = must(open("gcp"));
  EXPECT_EQ(staging.at.id(), "obj_cloud3");
  EXPECT_EQ(staging.at.prefix, "in/raw/");
  EXPECT_EQ(staging.hub_bucket, std::nullopt);
}

TEST_F(StagingTest, NamesTheSettingThatIsMissingOrWrong) {
  EXPECT_NE(refusal("azure").find("promote_runner_azure_staging_account"), std::string::npos);
  EXPECT_NE(refusal("cloud4").find("promote_runner_oci_staging_bucket"), std::string::npos);
  EXPECT_NE(refusal("cloud5").find("cloud4 (oci)"), std::string::npos);
  EXPECT_FALSE(open(""));
  for (auto prefix : {"images", "images/x", "iac-state/", "../x", "a//b"}) {
    world.set("promote_runner_aws_staging_prefix", prefix);
    EXPECT_NE(refusal("aws").find("promote_runner_aws_staging_prefix"), std::string::npos) << prefix;
  }
}

TEST_F(StagingTest, TellsTheNextStepWithTheSettingsOfItsCloud) {
  auto step = next_step({{"promote_runner_image", "runner:1"},
                         {"promote_runner_ecs_cluster", "c"},
                         {"promote_runner_aws_staging_bucket", "b"},
                         {"promote_runner_gcp_cpu", "4"}},
                        "cloud1");
  EXPECT_EQ(step["started"], false);
  EXPECT_EQ(step["runner_image"], "runner:1");
  EXPECT_EQ(step["settings"].size(), 2u);
  EXPECT_TRUE(next_step({}, "cloud3")["runner_image"].is_null());
}

}  // namespace
}  // namespace dash::images
