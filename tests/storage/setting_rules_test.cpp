#include "core/storage/setting_rules.hpp"

#include <gtest/gtest.h>

namespace dash::storage {
namespace {

std::string_view reason(std::string_view key, std::string_view value) {
  static const local::RootRules roots({});
  auto refused = refused_setting(key, value, roots);
  if (refused) EXPECT_FALSE(refused->message.empty());
  return refused ? refused->reason : "";
}

}  // namespace

TEST(StorageSetting, IsNoPrefixUnderWhichTheDashboardKeepsItsOwn) {
  for (auto backend : {"obj_cloud1", "obj_cloud2", "obj_cloud3", "obj_cloud4"})
    for (auto value : {"iac-state", "iac-state/", "terraform-state/x", "images", " images/a ", "/images",
                       "//iac-state", ".dashctl-uploads", "dashctl-audit/deep/er"})
      EXPECT_EQ(reason(fmt::format("storage_{}_prefix", backend), value), "prefix_reserved") << value;
  for (auto value :
       {"", "config-mgmt", "team/images", "images-of-team", "iac-statement", "Images", "x/iac-state"})
    EXPECT_EQ(reason("storage_obj_cloud1_prefix", value), "") << value;
  EXPECT_EQ(reason("promote_runner_aws_staging_prefix", "images"), "");
}

TEST(StorageSetting, IsNoFolderOfTheHostWhileSharesAndOwnFoldersPass) {
  for (auto value : {"/etc", " /etc/ ", "/", "relative", "/tmp/../etc"})
    EXPECT_EQ(reason("storage_local_path", value), "path_refused") << value;
  for (auto value : {"", "  ", "/srv/assets", "\\\\files\\etc", "//files/etc", "/tmp/assets/"})
    EXPECT_EQ(reason("storage_local_path", value), "") << value;
  EXPECT_EQ(reason("storage_agent_subpath", "/etc"), "");
}

}  // namespace dash::storage
