#include "core/config/registry.hpp"
#include "core/config/masking.hpp"

#include <gtest/gtest.h>

namespace dash::config {
namespace {

TEST(Registry, KnowsAKeyInEitherSpelling) {
  const auto* info = lookup("azure_client_secret");
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->key, "cloud2_client_secret");
  EXPECT_EQ(info->alias, "azure_client_secret");
  EXPECT_TRUE(info->is_secret);
  EXPECT_EQ(lookup("no_such_setting"), nullptr);
}

TEST(Registry, CoversFamiliesOfKeys) {
  ASSERT_NE(lookup("cloud1_region.eu.west.1.ssh_key_secret"), nullptr);
  EXPECT_TRUE(is_vault_pointer("cloud1_region.eu.west.1.ssh_key_secret"));
  EXPECT_TRUE(is_secret("k8s_kubeconfig_42"));
  EXPECT_TRUE(is_secret("cloudfn/7/bearer"));
}

TEST(Registry, TakesAnUnknownKeyForASecretWhenItsNameEndsLikeOne) {
  EXPECT_TRUE(is_secret("brand_new_password"));
  EXPECT_TRUE(is_secret("Brand_New_PAT"));
  EXPECT_TRUE(is_secret("x_service_account_json"));
  EXPECT_FALSE(is_secret("brand_new_host"));
}

TEST(Registry, NeverTakesTheNameOfASecretForTheSecret) {
  for (auto key :
       {"brand_new_secret_name", "brand_new_key_secret", "brand_new_secret_ref", "brand_new_secret_title"}) {
    EXPECT_FALSE(is_secret(key)) << key;
    EXPECT_TRUE(is_vault_pointer(key)) << key;
  }
  EXPECT_FALSE(is_secret("eso_bt_credentials_secret"));
  EXPECT_FALSE(is_secret("k8s_ps_token_delete_legacy_secret"));
}

TEST(Registry, EveryLineIsWhole) {
  EXPECT_GT(registered_keys().size(), 790u);
  for (const auto& info : registered_keys()) {
    EXPECT_FALSE(info.type.empty() || info.panel.empty() || info.group.empty()) << info.key;
    EXPECT_FALSE(info.is_secret && info.is_vault_pointer) << info.key;
  }
}

TEST(Mask, IsTwoLeadingBullets) {
  EXPECT_TRUE(is_masked(kMask));
  EXPECT_EQ(kMask.size(), 8u * 3u);
  EXPECT_TRUE(is_masked("••tail"));
  EXPECT_FALSE(is_masked("•one"));
  EXPECT_FALSE(is_masked("a••"));
  EXPECT_FALSE(is_masked(""));
}

}  // namespace
}  // namespace dash::config
