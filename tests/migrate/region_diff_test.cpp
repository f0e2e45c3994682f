#include "core/migrate/region_diff.hpp"

#include <gtest/gtest.h>
#include "core/config/masking.hpp"

#include "core/config/registry.hpp"

namespace dash::migrate {
namespace {

const std::string kMasked{config::kMask};
using Keys = std::vector<std::string>;

TEST(ReplaceRegions, NamesTheRegionsAndFieldsThatOnlyTheTargetHas) {
  auto plan =
      replace_regions("cloud1", {{"r1", {{"vpc_id", "new"}}}},
                      {{"r1", {{"vpc_id", "v"}, {"vpc_cidr", "c"}}}, {"r2", {{"vpc_id", "w"}}}}, false);
  EXPECT_EQ(plan.sent, (config::RegionMap{{"r1", {{"vpc_id", "new"}}}}));
  EXPECT_EQ(plan.would_vanish, Keys{"cloud1_region.r2"});
  EXPECT_EQ(plan.would_lose, Keys{"cloud1_region.r1.vpc_cidr"});
  EXPECT_TRUE(plan.would_drop.empty());
}

TEST(ReplaceRegions, SendsAPeerOnlyTheFieldsOfItsModel) {
  auto plan = replace_regions("cloud1", {{"r1", {{"vpc_id", "v"}, {"own", "x"}}}, {"r2", {{"own", "y"}}}},
                              {{"r2", {{"vpc_id", "w"}}}}, true);
  EXPECT_EQ(plan.sent, (config::RegionMap{{"r1", {{"vpc_id", "v"}}}}));
  EXPECT_EQ(plan.would_drop, (Keys{"cloud1_region.r1.own", "cloud1_region.r2.own"}));
  EXPECT_EQ(plan.would_vanish, Keys{"cloud1_region.r2"});
}

TEST(ReplaceRegions, ReplacesNothingWhereThePeerCanKeepNothing) {
  for (auto cloud : {"cloud1", "cloud4"}) {
    auto plan = replace_regions(cloud, {{"r1", {{"own", "x"}}}}, {{"r1", {{"vpc_id", "v"}}}}, true);
    EXPECT_TRUE(plan.sent.empty());
    EXPECT_TRUE(plan.would_vanish.empty() && plan.would_lose.empty());
    EXPECT_EQ(plan.would_drop.size(), 1u);
  }
}

TEST(ReplaceRegions, LeavesAMaskedFieldAsTheTargetHasIt) {
  auto plan = replace_regions("cloud1", {{"r", {{"a", kMasked}, {"b", kMasked}, {"c", kMasked}}}},
                              {{"r", {{"a", "stored"}, {"b", kMasked}}}}, false);
  EXPECT_EQ(plan.sent, (config::RegionMap{{"r", {{"a", "stored"}, {"b", kMasked}}}}));
  EXPECT_EQ(plan.masked, Keys{"cloud1_region.r.c"});
  EXPECT_TRUE(plan.would_lose.empty());
}

TEST(CompareRegions, AsksAboutWhatTheTargetMasksAndNothingElse) {
  config::Values hidden;
  config::RegionMap mine{{"r", {{"a", "1"}, {"s", "secret"}}}};
  EXPECT_EQ(compare_regions("cloud1", mine, {{"r", {{"a", "1"}, {"s", kMasked}}}}, hidden),
            Category::unknown);
  EXPECT_EQ(hidden, (config::Values{{"cloud1_region.r.s", "secret"}}));
  hidden.clear();
  EXPECT_EQ(compare_regions("cloud1", mine, {{"r", {{"a", "2"}, {"s", kMasked}}}}, hidden), Category::change);
  EXPECT_EQ(compare_regions("cloud1", mine, {{"r", {{"a", "1"}}}}, hidden), Category::change);
  EXPECT_EQ(compare_regions("cloud1", mine, mine, hidden), Category::same);
  EXPECT_EQ(compare_regions("cloud1", mine, {}, hidden), Category::add);
  EXPECT_TRUE(hidden.empty());
}

}  // namespace
}  // namespace dash::migrate
