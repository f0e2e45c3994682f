#include "core/storage/store/gcs/versions.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash::storage::gcs {
namespace {

TEST(GcsVersions, AreOnOnlyWhereTheBucketSaysSo) {
  EXPECT_EQ(must(parse_versioning(R"({"versioning":{"enabled":true}})")), Versioning::on);
  for (auto text :
       {"{}", R"({"versioning":{}})", R"({"versioning":{"enabled":false}})", R"({"versioning":1})"})
    EXPECT_EQ(must(parse_versioning(text)), Versioning::off) << text;
  EXPECT_EQ(parse_versioning("[]").error().code, Code::upstream);
}

TEST(GcsVersions, AreThoseOfOneObject) {
  auto page = must(parse_generations(
      R"({"nextPageToken":"t","items":[
           {"name":"k","generation":"1","size":"3","updated":"2026-01-01T00:00:00Z","timeDeleted":"2026-01-02T00:00:00Z"},
           {"name":"k","generation":"2","size":"4","updated":"2026-01-02T00:00:00Z"},
           {"name":"k2","generation":"3","size":"5","updated":"2026-01-03T00:00:00Z"}]})",
      "k"));
  EXPECT_EQ(page.next_page_token, "t");
  ASSERT_EQ(page.versions.size(), 2u);
  EXPECT_EQ(page.versions[0].id, "1");
  EXPECT_FALSE(page.versions[0].is_current);
  EXPECT_TRUE(page.versions[1].is_current);
  EXPECT_TRUE(must(parse_generations("{}", "k")).versions.empty());
  EXPECT_EQ(parse_generations(R"({"items":[1]})", "k").error().code, Code::upstream);
}

}  // namespace
}  // namespace dash::storage::gcs
