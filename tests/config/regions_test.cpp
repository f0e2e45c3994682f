#include "core/config/regions.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/support/must.hpp"

namespace dash::config {
namespace {

TEST(RegionKey, SplitsAtTheLastDotAndNormalises) {
  auto key = split_region_key("aws_region.US.East.1.vpc_id");
  ASSERT_TRUE(key);
  EXPECT_EQ(key->cloud, "cloud1");
  EXPECT_EQ(key->region, "us.east.1");
  EXPECT_EQ(key->field, "vpc_id");
  EXPECT_EQ(split_region_key("cloud2_region. West US 2 .gallery_name")->region, "westus2");
  EXPECT_EQ(split_region_key("cloud4_region.eu-frankfurt-1.compartment")->cloud, "cloud4");
}

TEST(RegionKey, NeedsARegionAndAField) {
  for (auto key :
       {"cloud1_region", "cloud1_region.", "cloud1_region.vpc_id", "cloud1_region..vpc_id",
        "cloud1_region.us-east-1.", "cloud1_region_configs", "cloud5_region.a.b", "xcloud1_region.a.b"})
    EXPECT_FALSE(split_region_key(key)) << key;
  EXPECT_TRUE(has_region_prefix("oci_region.x"));
  EXPECT_FALSE(has_region_prefix("cloud1_region_configs"));
}

TEST(RegionBlob, IsReadTolerantlyAndWrittenInOneForm) {
  auto map = must(parse_region_blob(
      "cloud2",
      R"({"West US 2":{"gallery_name":" g ","empty":"","none":null,"count":3},"":{"a":"b"},"x":5})"));
  EXPECT_EQ(write_region_blob(map), R"({"westus2": {"count": "3", "gallery_name": "g"}})");
  EXPECT_TRUE(must(parse_region_blob("cloud1", "")).empty());
  EXPECT_TRUE(must(parse_region_blob("cloud1", "{}")).empty());
}

TEST(RegionBlob, ThatIsNoObjectIsRefusedByName) {
  for (auto text : {"[]", "{", "5", "nonsense"}) {
    auto result = parse_region_blob("cloud3", text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().message, "cloud3_region_configs is not a JSON object of regions");
  }
}

TEST(RegionBlob, KeyIsKnownInEitherSpelling) {
  EXPECT_EQ(cloud_of_region_blob("azure_region_configs"), "cloud2");
  EXPECT_EQ(cloud_of_region_blob("cloud4_region_configs"), "cloud4");
  EXPECT_FALSE(cloud_of_region_blob("cloud1_region_configs_old"));
}

RegionMap random_map(std::mt19937& random) {
  RegionMap map;
  for (auto n = random() % 6; n > 0; --n)
    map["r" + std::to_string(random() % 4)]["f" + std::to_string(random() % 4)] =
        "v" + std::to_string(random() % 9);
  return map;
}

TEST(RegionMerge, NeverDeletesAndTheNewerFieldWins) {
  std::mt19937 random(11);
  for (int i = 0; i < 2000; ++i) {
    auto before = random_map(random);
    auto from = random_map(random);
    auto merged = before;
    merge_regions(merged, from);
    for (const auto& [region, fields] : from)
      for (const auto& [field, value] : fields) EXPECT_EQ(merged[region][field], value);
    for (const auto& [region, fields] : before)
      for (const auto& [field, value] : fields)
        if (!from.contains(region) || !from[region].contains(field)) {
          EXPECT_EQ(merged[region][field], value);
        }
    auto again = merged;
    merge_regions(again, from);
    EXPECT_EQ(again, merged);
    EXPECT_EQ(must(parse_region_blob("cloud1", write_region_blob(merged))), merged);
  }
}

TEST(RegionMerge, BlankTextChangesNothing) {
  RegionMap map{{"r", {{"f", "v"}}}};
  EXPECT_FALSE(set_region_field(map, {"cloud1", "r", "f"}, "  "));
  EXPECT_FALSE(set_region_field(map, {"cloud1", "r", "f"}, " v "));
  EXPECT_TRUE(set_region_field(map, {"cloud1", "r", "f"}, "w"));
  EXPECT_EQ(map["r"]["f"], "w");
}

TEST(PeerModel, LacksTheFourthCloudUnknownFieldsAndDottedRegions) {
  EXPECT_TRUE(is_known_to_peer({"cloud1", "us-east-1", "vpc_id"}));
  EXPECT_FALSE(is_known_to_peer({"cloud1", "us-east-1", "brand_new"}));
  EXPECT_FALSE(is_known_to_peer({"cloud4", "eu-frankfurt-1", "compartment"}));
  EXPECT_FALSE(is_known_to_peer({"cloud1", "us.east", "vpc_id"}));
}

}  // namespace
}  // namespace dash::config
