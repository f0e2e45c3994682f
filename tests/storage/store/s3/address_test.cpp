#include "core/storage/store/s3/address.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash::storage::s3 {
namespace {

config::Values bucket(std::string name, config::Values more = {}) {
  more["storage_obj_cloud1_bucket"] = std::move(name);
  return more;
}
std::string url(const config::Values& values) {
  auto address = must(read_address(values));
  return address.url_of(address.path_of("a b+ü/x.yml"), "");
}

TEST(S3Address, PutsAPlainBucketBeforeTheCloudsHost) {
  EXPECT_EQ(url(bucket("assets", {{"storage_obj_cloud1_region", "eu-west-1"}})),
            "https://assets.s3.eu-west-1.amazonaws.com/a%20b%2B%C3%BC/x.yml");
}

TEST(S3Address, TakesTheCloudsRegionWhenTheStoreHasNoneOfItsOwn) {
  EXPECT_EQ(must(read_address(bucket("b-1", {{"cloud1_region", "ap-south-1"}}))).region, "ap-south-1");
  EXPECT_EQ(must(read_address(bucket("b-1"))).region, "us-east-1");
  EXPECT_EQ(must(read_address(bucket("b-1", {{"cloud1_region", "cn-north-1"}}))).host,
            "b-1.s3.cn-north-1.amazonaws.com.cn");
}

TEST(S3Address, PutsABucketWithDotsIntoThePath) {
  EXPECT_EQ(url(bucket("my.assets")), "https://s3.us-east-1.amazonaws.com/my.assets/a%20b%2B%C3%BC/x.yml");
}

TEST(S3Address, AsksAnEndpointOfOnesOwnInPathStyleUnlessToldOtherwise) {
  config::Values own{{"storage_obj_cloud1_endpoint", "http://127.0.0.1:7070/"}};
  EXPECT_EQ(url(bucket("assets", own)), "http://127.0.0.1:7070/assets/a%20b%2B%C3%BC/x.yml");
  own["storage_obj_cloud1_path_style"] = "false";
  own["storage_obj_cloud1_endpoint"] = "s3.example:443";
  EXPECT_EQ(url(bucket("assets", own)), "https://assets.s3.example/a%20b%2B%C3%BC/x.yml");
}

TEST(S3Address, NamesThePlaceAlikeInBothStyles) {
  config::Values own{{"storage_obj_cloud1_endpoint", "https://s3.example"}};
  auto path = must(read_address(bucket("assets", own))).place();
  own["storage_obj_cloud1_path_style"] = "no";
  EXPECT_EQ(path, must(read_address(bucket("assets", own))).place());
  EXPECT_EQ(path, "https://s3.example/assets");
}

TEST(S3Address, NamesTheSettingThatIsWrong) {
  for (const auto& [values, key] : std::vector<std::pair<config::Values, std::string>>{
           {{}, "storage_obj_cloud1_bucket"},
           {bucket("a/b"), "storage_obj_cloud1_bucket"},
           {bucket("b", {{"storage_obj_cloud1_endpoint", "ftp://x"}}), "storage_obj_cloud1_endpoint"},
           {bucket("b", {{"storage_obj_cloud1_endpoint", "http://u:p@x"}}), "storage_obj_cloud1_endpoint"},
           {bucket("b", {{"storage_obj_cloud1_path_style", "perhaps"}}), "storage_obj_cloud1_path_style"}}) {
    auto address = read_address(values);
    ASSERT_FALSE(address);
    EXPECT_NE(address.error().message.find(key), std::string::npos) << address.error().message;
  }
}

}  // namespace
}  // namespace dash::storage::s3
