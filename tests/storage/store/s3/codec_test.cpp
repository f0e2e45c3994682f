#include "core/storage/store/s3/codec.hpp"

#include <gtest/gtest.h>

#include "core/base/file.hpp"
#include "tests/support/must.hpp"

namespace dash::storage::s3 {
namespace {

std::string golden(std::string_view name) {
  return must(read_file(fmt::format("{}/s3/{}", DASH_TESTDATA, name), 1 << 20));
}

TEST(S3Wire, ReadsAPageOfTheList) {
  auto page = must(read_list(golden("list_page.xml")));
  ASSERT_EQ(page.objects.size(), 3u);
  EXPECT_EQ(page.objects[0].key, "config-mgmt/a b+c.yml");
  EXPECT_EQ(page.objects[0].size, 5'368'709'121u);
  EXPECT_EQ(page.objects[0].etag, "9b2cf535f27731c974343645a3985328");
  EXPECT_EQ(format_iso(page.objects[0].modified), "2026-07-03T14:00:00Z");
  EXPECT_EQ(page.objects[1].key, "config-mgmt/ü<&>.sh");
  EXPECT_EQ(page.objects[2].key, "config-mgmt/ü\n.sh");
  EXPECT_EQ(page.cursor, "1/token+==");
}

TEST(S3Wire, TakesNamesAsTheyAreWhenTheStoreDidNotEncodeThem) {
  auto page = must(
      read_list("<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a+b%20c</Key><Size>0</Size>"
                "<LastModified>2026-07-03T14:00:00Z</LastModified></Contents></ListBucketResult>"));
  EXPECT_EQ(page.objects.at(0).key, "a+b%20c");
  EXPECT_EQ(page.cursor, "");
}

TEST(S3Wire, RefusesAListThatGoesOnWithoutAToken) {
  EXPECT_EQ(read_list("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>").error().code,
            Code::upstream);
}

TEST(S3Wire, ReadsTheVersionsOfOneKey) {
  auto version = [](std::string_view name, std::string_view key, std::string_view id, bool is_latest) {
    return fmt::format(
        "<{0}><Key>{1}</Key><VersionId>{2}</VersionId><IsLatest>{3}</IsLatest><Size>7</Size>"
        "<LastModified>2026-07-03T14:00:00Z</LastModified></{0}>",
        name, key, id, is_latest);
  };
  auto page = must(read_versions(
      "<ListVersionsResult><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>"
      "<NextKeyMarker>a%2Bb</NextKeyMarker><NextVersionIdMarker>v1</NextVersionIdMarker>" +
          version("DeleteMarker", "a%2Bb", "v2", true) + version("Version", "a%2Bb", "v1", false) +
          version("Version", "a%2Bb.lock", "v9", true) + "</ListVersionsResult>",
      "a+b"));
  ASSERT_EQ(page.versions.size(), 2u);
  EXPECT_TRUE(page.versions[0].is_deletion && page.versions[0].is_current);
  EXPECT_EQ(page.versions[1].id, "v1");
  EXPECT_EQ(page.versions[1].size, 7u);
  EXPECT_FALSE(page.versions[1].is_current);
  EXPECT_EQ(page.next_key_marker, "a+b");
  EXPECT_EQ(page.next_id_marker, "v1");
  EXPECT_EQ(read_versions("<Other/>", "a").error().code, Code::upstream);
}

TEST(S3Wire, ReadsWhetherABucketKeepsVersions) {
  EXPECT_EQ(
      must(read_versioning("<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>")),
      "Enabled");
  EXPECT_EQ(must(read_versioning("<VersioningConfiguration/>")), "");
  EXPECT_EQ(read_versioning("<html/>").error().code, Code::upstream);
}

TEST(S3Wire, ReadsStagedParts) {
  auto page = must(read_parts(golden("list_parts.xml")));
  ASSERT_EQ(page.parts.size(), 2u);
  EXPECT_EQ(page.parts[1].n, 2u);
  EXPECT_EQ(page.parts[1].size, 8'388'608u);
  EXPECT_EQ(page.parts[1].ref, "7778aef83f66abc1fa1e8477f296d394");
  EXPECT_EQ(page.next_marker, "2");
}

TEST(S3Wire, ReadsOpenUploads) {
  auto page = must(read_uploads(golden("list_uploads.xml")));
  ASSERT_EQ(page.uploads.size(), 1u);
  EXPECT_EQ(page.uploads[0].key, "config-mgmt/big file.deb");
  EXPECT_EQ(page.uploads[0].id, "XMgbGlrZSBlbHZpbmcncyBub3QgaGF2aW5nIG11Y2ggbHVjaw");
  EXPECT_EQ(format_iso(page.uploads[0].began), "2026-07-01T08:00:00Z");
  EXPECT_EQ(page.next_key_marker, "config-mgmt/big file.deb");
}

TEST(S3Wire, SeesAnErrorBehindAGoodStatus) {
  auto made = must(read_completion(
      "\n \n<?xml version=\"1.0\"?><Error><Code>InternalError</Code><Message>try again</Message></Error>"));
  ASSERT_TRUE(made.refusal);
  EXPECT_EQ(made.refusal->code, "InternalError");
  EXPECT_EQ(must(read_completion("<CompleteMultipartUploadResult><ETag>&quot;abc-2&quot;</ETag></"
                                 "CompleteMultipartUploadResult>"))
                .etag,
            "abc-2");
  EXPECT_EQ(read_completion("").error().code, Code::upstream);
}

TEST(S3Wire, WritesTheListOfPartsThatMakeAnObject) {
  EXPECT_EQ(write_complete({{1, 8, "aa"}, {2, 3, "bb"}}), golden("complete.xml"));
}

TEST(S3Wire, ARefusalThatIsNoXmlIsEmpty) {
  EXPECT_EQ(read_refusal("<html>502</html>").code, "");
  EXPECT_EQ(read_refusal("").code, "");
  EXPECT_EQ(read_refusal("<Error><Code>SlowDown</Code></Error>").code, "SlowDown");
}

}  // namespace
}  // namespace dash::storage::s3
