#include <gtest/gtest.h>

#include "core/migrate/bundle/bundle.hpp"
#include "tests/support/must.hpp"

namespace dash::migrate {
namespace {

std::string refusal(std::string_view text) {
  auto result = parse_bundle(text, "b.json");
  if (result) return "";
  EXPECT_EQ(result.error().code, Code::integrity);
  return result.error().message;
}

TEST(BrokenBundle, IsRefusedByNameWithTheReason) {
  EXPECT_NE(refusal(R"({"config": {"a")").find("b.json is cut or damaged"), std::string::npos);
  EXPECT_NE(refusal("[]").find("b.json is not a JSON object"), std::string::npos);
  EXPECT_NE(refusal(R"({"schema":7})").find("newer than the 1"), std::string::npos);
  EXPECT_NE(refusal(R"({"schema":"1"})").find("schema is not a whole number"), std::string::npos);
  EXPECT_NE(refusal(R"({"config":[]})").find("'config' is not an object"), std::string::npos);
  EXPECT_NE(refusal(R"({"regions":{"aws":5}})").find("regions.aws is not an object"), std::string::npos);
  EXPECT_NE(refusal(R"({"notification_endpoints":{}})").find("is not a list"), std::string::npos);
  EXPECT_NE(refusal(R"({"config":{"aws_x":"1","cloud1_x":"2"}})").find("'cloud1_x' twice"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"config":{"a":"1","a":"2"}})").find("'a' twice"), std::string::npos);
}

TEST(Bundle, ThatGivesARegionFieldTwiceWithDifferentValuesIsRefused) {
  for (auto text : {R"({"regions":{"aws":{"r":{"f":"1"}},"cloud1":{"r":{"f":"2"}}}})",
                    R"({"regions":{"azure":{"West US 2":{"f":"1"},"westus2":{"f":"2"}}}})",
                    R"({"regions":{"azure":{"westus2":{"f":"1"}},"cloud2":{"West US 2":{"f":"2"}}}})"})
    EXPECT_NE(refusal(text).find("twice, with different values"), std::string::npos) << text;
  auto agreeing = R"({"regions":{"aws":{"r":{"f":"1"}},"cloud1":{"R":{"f":"1","g":"2"}}}})";
  EXPECT_EQ(must(parse_bundle(agreeing, "b")).regions,
            (config::RegionSets{{"cloud1", {{"r", {{"f", "1"}, {"g", "2"}}}}}}));
}

TEST(Bundle, IsReadInTheProvidersSpelling) {
  auto bundle = must(parse_bundle(
      R"({"schema":1,"meta":{"source_url":"x"},"config":{"aws_access_key_id":"a","storage_active_backend":"gcs"},
          "regions":{"gcp":{"europe-west1":{"zone":"b"}}},"annotations":{"azure_client_secret":{"secret":true}}})",
      "peer.json"));
  EXPECT_EQ(bundle.config,
            (config::Values{{"cloud1_access_key_id", "a"}, {"storage_active_backend", "obj_cloud3"}}));
  EXPECT_EQ(bundle.regions["cloud3"]["europe-west1"]["zone"], "b");
  EXPECT_TRUE(bundle.annotations["cloud2_client_secret"].secret);
}

TEST(Bundle, TakesValuesAsAHandWritesThem) {
  auto bundle =
      must(parse_bundle(R"({"config":{"a":true,"b":5,"c":1.5,"d":null,"e":[1,2],"f":false}})", "b"));
  EXPECT_EQ(bundle.config,
            (config::Values{{"a", "1"}, {"b", "5"}, {"c", "1.5"}, {"e", "[1,2]"}, {"f", "0"}}));
  EXPECT_EQ(bundle.notes, std::vector<std::string>{"'d' has no value and is left out"});
}

}  // namespace
}  // namespace dash::migrate
