#include "core/storage/settings/config_view.hpp"

#include <gtest/gtest.h>
#include "core/config/masking.hpp"

#include "core/config/registry.hpp"
#include "core/storage/store/backends.hpp"
#include "tests/support/must.hpp"

namespace dash::storage {
namespace {

std::string refusal(std::string_view body, const config::Values& values) {
  auto patch = read_config_patch(must(parse_json(body)), values);
  return patch ? "" : fmt::format("{} {}", info(patch.error().code).http_status, patch.error().message);
}

ConfigPatch patch_of(std::string_view body, const config::Values& values = {}) {
  return must(read_config_patch(must(parse_json(body)), values));
}

TEST(StorageConfig, SpeaksTheProvidersNamesWhenAsked) {
  config::Values values{{"cloud_names", "provider"},
                        {"storage_obj_cloud1_bucket", "b"},
                        {"storage_active_backend", "obj_cloud1"}};
  EXPECT_EQ(describe_backends(values)["active"], "s3");
  EXPECT_EQ(describe_backends(values)["ansible_runner"], "local");
  EXPECT_EQ(show_config(values)["storage_active_backend"], "s3");
  EXPECT_EQ(show_config(values)["storage_s3_bucket"], "b");
  EXPECT_EQ(patch_of(R"({"storage_azure_account":"a"})", values).updated,
            std::vector<std::string>{"storage_azure_account"});
}

TEST(StorageConfig, ShowsEverySettingAndMasksSecrets) {
  auto shown = show_config({{"storage_local_password", "hunter2"}, {"storage_obj_cloud1_bucket", "b"}});
  EXPECT_EQ(shown["storage_local_password"], std::string(config::kMask));
  EXPECT_EQ(shown["storage_agent_password"], "");
  EXPECT_EQ(show_config({{"storage_obj_cloud1_endpoint", "https://a:b@h"}})["storage_obj_cloud1_endpoint"],
            std::string(config::kMask));
  EXPECT_EQ(shown["storage_obj_cloud1_bucket"], "b");
  for (auto key : {"storage_active_backend", "storage_hub_backend", "storage_obj_cloud2_container",
                   "storage_obj_cloud4_namespace", "promote_runner_image", "promote_runner_oci_subnet_ocid",
                   "storage_agent_subpath"})
    EXPECT_EQ(shown.value(key, "absent"), "") << key;
  EXPECT_EQ(shown.begin().key(), "storage_active_backend");
}

TEST(StorageConfig, KeepsASecretWhoseMaskComesBackAndClearsWithEmptyText) {
  config::Values values{{"storage_local_password", "hunter2"}};
  EXPECT_TRUE(patch_of(R"({"storage_local_password":"••••••••"})", values).changes.empty());
  EXPECT_TRUE(patch_of(R"({"storage_obj_cloud1_endpoint":"••••••••"})", values).changes.empty());
  EXPECT_EQ(patch_of(R"({"storage_local_password":""})", values).changes.at("storage_local_password"), "");
  EXPECT_TRUE(patch_of(R"({"storage_local_password":null,"nonsense":"x"})", values).changes.empty());
}

TEST(StorageConfig, RoundTripsThePromotionRunnersKeys) {
  auto patch =
      patch_of(R"({"promote_runner_image":"img:1","promote_runner_ecs_ephemeral_storage_gib":"40"})");
  EXPECT_EQ(patch.updated,
            (std::vector<std::string>{"promote_runner_image", "promote_runner_ecs_ephemeral_storage_gib"}));
  config::Values values;
  for (const auto& [key, value] : patch.changes) values[key] = *value;
  EXPECT_EQ(show_config(values)["promote_runner_ecs_ephemeral_storage_gib"], "40");
}

TEST(StorageConfig, RefusesABodyThatCannotBeRead) {
  EXPECT_EQ(refusal(R"({"storage_local_path":7})", {}).substr(0, 3), "422");
  EXPECT_EQ(refusal(R"({"storage_s3_bucket":"a","storage_obj_cloud1_bucket":"b"})", {}).substr(0, 3), "400");
}

TEST(StorageConfig, ReadsChoicesInEitherSpelling) {
  auto patch = patch_of(
      R"({"storage_active_backend":"oci_object_storage","storage_oci_bucket":"b","storage_hub_backend":""})");
  EXPECT_EQ(patch.changes.at("storage_active_backend"), "obj_cloud4");
  EXPECT_EQ(patch.updated, (std::vector<std::string>{"storage_active_backend", "storage_hub_backend",
                                                     "storage_obj_cloud4_bucket"}));
}

}  // namespace
}  // namespace dash::storage
