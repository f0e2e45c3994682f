#include "core/deploy/credentials.hpp"

#include <gtest/gtest.h>

namespace dash::deploy {
namespace {

TEST(CloudCredentials, AreFilesWhereTheProviderReadsOne) {
  config::Values values{{"cloud1_access_key_id", "AKIA"},
                        {"cloud1_secret_access_key", "s-1"},
                        {"cloud2_client_id", "c"},
                        {"cloud2_client_secret", "s-2"},
                        {"cloud3_service_account_json", "{s-3}"},
                        {"cloud4_private_key", "s-4"},
                        {"cloud4_user_ocid", "u"}};
  for (auto [cloud, variable, secret] : {std::tuple{"cloud1", "AWS_SHARED_CREDENTIALS_FILE=/h/", "s-1"},
                                         {"cloud2", "ARM_CLIENT_SECRET_FILE_PATH=/h/", "s-2"},
                                         {"cloud3", "GOOGLE_APPLICATION_CREDENTIALS=/h/", "{s-3}"},
                                         {"cloud4", "", "s-4"}}) {
    auto got = cloud_credentials(cloud, values, "/h");
    std::string files, environment;
    for (const auto& file : got.files) files += file.text;
    for (const auto& entry : got.environment) environment += entry + "\n";
    EXPECT_NE(files.find(secret), std::string::npos) << cloud;
    EXPECT_EQ(environment.find(secret), std::string::npos) << cloud;
    EXPECT_NE(environment.find(variable), std::string::npos) << environment;
    EXPECT_EQ(got.secrets.front(), secret);
  }
}

TEST(CloudCredentials, AreNoneOfAPanelThatIsEmpty) {
  for (auto cloud : {"cloud1", "cloud2", "cloud3", "cloud4", ""}) {
    auto got = cloud_credentials(cloud, {}, "/h");
    EXPECT_TRUE(got.files.empty() && got.environment.empty()) << cloud;
  }
}

}  // namespace
}  // namespace dash::deploy
