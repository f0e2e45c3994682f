#include "core/migrate/diff.hpp"

#include <gtest/gtest.h>

#include "tests/migrate/migration.hpp"

namespace dash::migrate {
namespace {

TEST(Diff, SortsKeysIntoTheFourCategories) {
  FakeDashboard target;
  target.config = {{"cloud1_a", "1"}, {"cloud1_b", "old"}, {"epml_pat", "hidden"}};
  target.masked = {"epml_pat"};
  target.has_compare = false;
  auto found = Migration(target).diff(R"({"config":{"aws_a":"1","aws_b":"new","aws_c":"3","epml_pat":"x"}})");
  EXPECT_EQ(keys(found, Category::same), "cloud1_a");
  EXPECT_EQ(keys(found, Category::change), "cloud1_b");
  EXPECT_EQ(keys(found, Category::add), "cloud1_c");
  EXPECT_EQ(keys(found, Category::unknown), "epml_pat");
}

TEST(Diff, AsksTheTargetAboutWhatItMasks) {
  FakeDashboard target;
  target.config = {{"epml_pat", "x"}, {"oidc_client_secret", "y"}};
  target.masked = {"epml_pat", "oidc_client_secret"};
  auto found = Migration(target).diff(R"({"config":{"epml_pat":"x","oidc_client_secret":"z"}})");
  EXPECT_EQ(keys(found, Category::same), "epml_pat");
  EXPECT_EQ(keys(found, Category::change), "oidc_client_secret");
}

TEST(Diff, ComparesRegionFieldsAndNotTexts) {
  FakeDashboard target;
  target.config = {{"cloud2_region_configs", R"({"WEST us 2":{"gallery_name":"g","default_vm_size":"s"}})"}};
  auto found = Migration(target).diff(
      R"({"regions":{"azure":{"westus2":{"gallery_name":"g","default_vm_size":"t","db_subnet_id":"d"}}}})");
  EXPECT_EQ(keys(found, Category::same), "cloud2_region.westus2.gallery_name");
  EXPECT_EQ(keys(found, Category::change), "cloud2_region.westus2.default_vm_size");
  EXPECT_EQ(keys(found, Category::add), "cloud2_region.westus2.db_subnet_id");
}

TEST(Diff, WarnsOfATargetsSetThatCannotBeRead) {
  FakeDashboard target;
  target.config = {{"cloud1_region_configs", "[]"}};
  auto found = Migration(target).diff(R"({"regions":{"aws":{"r":{"f":"1"}}}})");
  ASSERT_EQ(found.warnings.size(), 1u);
  EXPECT_NE(found.warnings[0].find("cloud1_region_configs"), std::string::npos);
}

TEST(Diff, KeepsWhatAnEmptyValueWouldBlank) {
  FakeDashboard target;
  target.config = {{"a", "full"}, {"b", ""}};
  Migration run(target);
  auto found = run.diff(R"({"config":{"a":"","b":"","c":""}})");
  EXPECT_EQ(found.not_overwritten, std::vector<std::string>{"a"});
  EXPECT_EQ(keys(found, Category::same), "b");
  EXPECT_EQ(keys(found, Category::add), "c");
  run.options.diff.selection.allow_empty_values = true;
  EXPECT_EQ(keys(run.diff(R"({"config":{"a":""}})"), Category::change), "a");
}

TEST(Import, ComparesRegionSetsThatHideAFieldBlindly) {
  FakeDashboard target;
  std::string hides = R"({"r": {"a": "1", "s": "••••••••"}})";
  target.config = {{"cloud1_region_configs", hides}, {"cloud1_region.r.s", "secret"}};
  Migration run(target);
  run.options.diff.selection.replace_regions = true;
  EXPECT_EQ(keys(run.diff(R"({"regions":{"aws":{"r":{"a":"1","s":"secret"}}}})"), Category::same),
            "cloud1_region_configs");
  EXPECT_EQ(keys(run.diff(R"({"regions":{"aws":{"r":{"a":"1","s":"other"}}}})"), Category::change),
            "cloud1_region_configs");
  auto masked = run.diff(R"({"regions":{"aws":{"r":{"a":"2","s":"••••••••","t":"••••••••"}}}})");
  EXPECT_EQ(values_to_write(run.selected, masked),
            (std::vector<SettingView>{{"cloud1_region_configs", R"({"r": {"a": "2", "s": "••••••••"}})"}}));
  EXPECT_EQ(masked.masked, std::vector<std::string>{"cloud1_region.r.t"});
  target.has_compare = false;
  EXPECT_EQ(keys(run.diff(R"({"regions":{"aws":{"r":{"a":"1","s":"secret"}}}})"), Category::unknown),
            "cloud1_region_configs");
}

}  // namespace
}  // namespace dash::migrate
