#include "core/storage/store/backends.hpp"

#include <gtest/gtest.h>

#include "core/config/registry.hpp"
#include "core/storage/store/registry.hpp"
#include "tests/support/must.hpp"

namespace dash::storage {
namespace {

TEST(AssetPrefix, IsNotWhereTheDashboardKeepsItsOwnObjects) {
  for (auto value : {"iac-state", "iac-state/", "terraform-state/x", "images", " images/a ", "/images",
                     "//iac-state", ".dashctl-uploads", "dashctl-audit/deep/er"}) {
    auto refused = check_asset_prefix("storage_obj_cloud3_prefix", value);
    ASSERT_FALSE(refused) << value;
    EXPECT_EQ(refused.error().code, Code::invalid);
    EXPECT_NE(refused.error().message.find("storage_obj_cloud3_prefix"), std::string::npos);
  }
  for (auto value :
       {"", "/", "config-mgmt", "team/images", "images-of-team", "iac-statement", "Images", "x/iac-state"})
    EXPECT_TRUE(check_asset_prefix("storage_obj_cloud1_prefix", value)) << value;
}

TEST(LocalRootSetting, IsNoFolderOfTheHostWhileSharesAndOwnFoldersPass) {
  local::RootRules rules({});
  for (auto value :
       {"/etc", " /etc/ ", "/", "relative", "/tmp/../etc", "/etc///", "//etc", "//", "///etc", "\\\\files"})
    EXPECT_EQ(check_local_root(value, rules).error().code, Code::invalid) << value;
  for (auto value : {"", "  ", "/srv/assets", "\\\\files\\etc", "//files/etc", "/tmp/assets/"})
    EXPECT_TRUE(check_local_root(value, rules)) << value;
}

const OrderedJson& row(const OrderedJson& answer, std::string_view id) {
  for (const auto& backend : answer["backends"])
    if (backend["id"] == id) return backend;
  throw std::runtime_error("no row");
}

TEST(StorageBackends, AreSixRowsInAFixedOrderWithLaneAndCeiling) {
  auto answer = describe_backends({});
  std::vector<std::string> ids;
  for (const auto& backend : answer["backends"]) ids.push_back(backend["id"]);
  EXPECT_EQ(ids, (std::vector<std::string>{"obj_cloud1", "obj_cloud2", "obj_cloud3", "obj_cloud4", "local",
                                           "agent_local"}));
  EXPECT_EQ(answer["active"], "");
  EXPECT_EQ(answer["any_active"], false);
  EXPECT_EQ(answer["automation_runner"], "local");
  EXPECT_EQ(row(answer, "obj_cloud4")["chunked_upload"], true);
  EXPECT_EQ(row(answer, "obj_cloud4")["hub_only"], false);
  EXPECT_EQ(row(answer, "obj_cloud1")["max_upload_bytes"], 5368709120);
  EXPECT_EQ(row(answer, "obj_cloud1")["inline_upload_bytes"], 67108864);
  EXPECT_EQ(row(answer, "local")["max_upload_bytes"], 67108864);
  EXPECT_EQ(row(answer, "agent_local")["max_upload_bytes"], 196608);
  EXPECT_EQ(row(answer, "agent_local")["via_agent"], true);
  EXPECT_EQ(row(answer, "local")["chunked_upload"], false);
  EXPECT_EQ(row(answer, "local")["chunk_part_bytes"], 8388608);
}

TEST(StorageBackends, AreConfiguredByTheirPrimaryIdentifierWhetherActiveOrNot) {
  config::Values values{{"storage_obj_cloud2_account", "acct"},
                        {"storage_local_path", "/srv/x"},
                        {"storage_active_backend", "local"}};
  auto answer = describe_backends(values);
  EXPECT_EQ(row(answer, "obj_cloud2")["configured"], true);
  EXPECT_EQ(row(answer, "obj_cloud2")["active"], false);
  EXPECT_EQ(row(answer, "local")["active"], true);
  EXPECT_EQ(row(answer, "obj_cloud1")["configured"], false);
  EXPECT_EQ(answer["active"], "local");
}

TEST(StorageBackends, SayWhetherStateOutlivesTheMachine) {
  auto local = describe_backends({{"storage_local_path", "/srv/x"}});
  EXPECT_EQ(local["durable_state"], false);
  EXPECT_EQ(row(local, "local")["durable_state_reason"], local["durable_state_reason"]);
  EXPECT_EQ(row(local, "agent_local")["durable_state"], false);
  EXPECT_EQ(row(local, "obj_cloud2")["durable_state"], true);
  auto cloud = describe_backends({{"storage_obj_cloud2_account", "acct"}});
  EXPECT_EQ(cloud["durable_state"], true);
  EXPECT_EQ(cloud["durable_state_reason"], "");
}

TEST(StorageBackends, FallBackToTheFirstConfiguredOne) {
  EXPECT_EQ(active_backend({{"storage_obj_cloud3_bucket", "b"}, {"storage_local_path", "/x"}})->id,
            "obj_cloud3");
  EXPECT_EQ(active_backend({{"storage_active_backend", "obj_cloud1"}, {"storage_local_path", "/x"}})->id,
            "local");
  EXPECT_EQ(active_backend({}), nullptr);
  EXPECT_EQ(active_backend({{"storage_local_path", "/x"}, {"automation_runner", "ecs"}}), nullptr);
  EXPECT_EQ(active_backend({{"storage_agent_id", "a"}}), nullptr);
}

TEST(StorageBackends, HaveAnObjectStoreAsHubOrNone) {
  EXPECT_EQ(hub_backend({{"storage_local_path", "/x"}}), nullptr);
  EXPECT_EQ(hub_backend({{"storage_obj_cloud1_bucket", "b"}})->id, "obj_cloud1");
  EXPECT_EQ(hub_backend({{"storage_obj_cloud1_bucket", "b"},
                         {"storage_obj_cloud3_bucket", "c"},
                         {"storage_hub_backend", "gcs"}})
                ->id,
            "obj_cloud3");
}

TEST(StorageBackends, KeepAssetsBeneathTheirPrefix) {
  auto* s3 = must(find_backend("s3"));
  EXPECT_EQ(asset_prefix(*s3, {}), "config-mgmt/");
  EXPECT_EQ(asset_prefix(*s3, {{"storage_obj_cloud1_prefix", "a/b//"}}), "a/b/");
  EXPECT_EQ(asset_prefix(*must(find_backend("local")), {}), "");
}

}  // namespace
}  // namespace dash::storage
