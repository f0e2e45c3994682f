#include "core/migrate/selection.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash::migrate {
namespace {

Bundle read(std::string_view text) { return must(parse_bundle(text, "b.json")); }

SelectedConfig selected(std::string_view text, Selection selection = {}) {
  auto bundle = read(text);
  return must(select(bundle, selection, "b.json"));
}

std::string refusal(std::string_view text, Selection selection = {}) {
  auto bundle = read(text);
  auto result = select(bundle, selection, "b.json");
  return result ? "" : result.error().message;
}

TEST(Select, AsksTheDenylistAgain) {
  auto s = selected(R"({"config":{"jwt_secret_key":"x","PUBLIC_BASE_URL":"y","vsphere_host":"h","ok":"1"}})");
  EXPECT_EQ(s.values, (config::Values{{"ok", "1"}}));
  EXPECT_EQ(s.refused.size(), 3u);
  EXPECT_EQ(s.refused["vsphere_host"], "on_prem");
}

TEST(Select, ReleasesOnPremisesTargetsOnDemand) {
  auto s = selected(R"({"config":{"vsphere_host":"h"}})", {.only = {}, .include_on_prem = true});
  EXPECT_EQ(s.values, (config::Values{{"vsphere_host", "h"}}));
}

TEST(Select, NeverSendsAMaskedValue) {
  auto s = selected(R"({"config":{"a":"••••••••","b":"1"},"regions":{"aws":{"r":{"f":"••x"}}}})");
  EXPECT_EQ(s.values, (config::Values{{"b", "1"}}));
  EXPECT_EQ(s.masked, (std::vector<std::string>{"a", "cloud1_region.r.f"}));
}

TEST(Select, TakesRegionSetsApartAndNormalisesTheirNames) {
  auto s = selected(R"({"regions":{"azure":{" West US 2":{"gallery_name":" g ","blank":"","none":null}}}})");
  EXPECT_EQ(s.values, (config::Values{{"cloud2_region.westus2.gallery_name", "g"}}));
}

TEST(Select, TakesABlobInConfigApartAndLetsTheRegionsSectionWin) {
  auto s =
      selected(R"({"config":{"aws_region_configs":"{\"r\":{\"f\":\"old\",\"g\":\"2\"}}","aws_region.r.h":"3"},
                      "regions":{"aws":{"r":{"f":"new"}}}})");
  EXPECT_EQ(
      s.values,
      (config::Values{{"cloud1_region.r.f", "new"}, {"cloud1_region.r.g", "2"}, {"cloud1_region.r.h", "3"}}));
}

TEST(Select, ReplacesWholeSetsButNeverWithNothing) {
  auto s = selected(R"({"regions":{"aws":{"r":{"f":"1"}},"gcp":{"r":{"f":""}}}})",
                    {.only = {}, .replace_regions = true});
  EXPECT_EQ(s.values, (config::Values{{"cloud1_region_configs", R"({"r": {"f": "1"}})"}}));
  EXPECT_EQ(s.empty_region_sets, std::vector<std::string>{"cloud3"});
  auto other = selected(R"({"config":{"epml_pat":"1"},"regions":{"gcp":{"r":{"f":""}}}})",
                        {.only = {"epml_"}, .replace_regions = true});
  EXPECT_TRUE(other.empty_region_sets.empty());
}

TEST(Select, KeepsAtTheTargetWhatTheSourceHidOfAReplacedSet) {
  auto s = selected(
      R"({"regions":{"aws":{"r":{"f":"1"}}},"annotations":{"aws_region.r.api_pwd":{"masked":true}}})",
      {.only = {}, .replace_regions = true});
  EXPECT_EQ(s.values,
            (config::Values{{"cloud1_region_configs", R"({"r": {"api_pwd": "••••••••", "f": "1"}})"}}));
}

TEST(Select, RefusesRegionKeysThatNameNoField) {
  auto s = selected(R"({"config":{"aws_region.r":"x","gcp_region_configs":"nonsense","ok":"1"}})");
  EXPECT_EQ(s.refused["cloud1_region.r"], "invalid_region_key");
  EXPECT_EQ(s.refused["cloud3_region_configs"], "malformed_region_set");
}

TEST(Only, IsAPrefixOfTheFinalNameInEitherSpelling) {
  auto text = R"({"config":{"azure_client_id":"1","aws_vpc_id":"2","admission_gated_actions":"3"},
                  "regions":{"azure":{"r":{"f":"4"}}},"notification_endpoints":[{"name":"ops","url":"https://h"}]})";
  EXPECT_EQ(selected(text, {.only = {"azure_"}}).values.size(), 2u);
  EXPECT_EQ(selected(text, {.only = {"cloud2_region."}}).values.size(), 1u);
  EXPECT_EQ(selected(text, {.only = {"aws", "admission_"}}).values.size(), 2u);
  EXPECT_EQ(selected(text, {.only = {"azure_"}}).webhooks_left_out, 1u);
  auto webhooks = selected(text, {.only = {"notification_endpoints"}});
  EXPECT_TRUE(webhooks.values.empty());
  EXPECT_EQ(webhooks.webhooks.size(), 1u);
}

TEST(Select, WithNothingToWriteNamesTheFileAndTheReason) {
  EXPECT_EQ(refusal(R"({"config":{}})"),
            "the bundle b.json holds nothing to write: its config and regions are empty");
  EXPECT_NE(refusal(R"({"config":{"jwt_secret_key":"x"}})").find("held back (jwt_secret_key)"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"config":{"a":"••••"}})").find("masked"), std::string::npos);
  EXPECT_NE(refusal(R"({"config":{"a":"1"}})", {.only = {"b"}}).find("starts with b"), std::string::npos);
}

}  // namespace
}  // namespace dash::migrate
