#include "core/storage/store/backends.hpp"

#include <gtest/gtest.h>

#include "core/storage/store/registry.hpp"

namespace dash::storage {

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

}  // namespace dash::storage
