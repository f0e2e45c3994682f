#include "core/storage/store/azure_blob/versions.hpp"

#include <gtest/gtest.h>

#include "core/storage/store/azure_blob/store.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/must.hpp"
#include "tests/support/scripted_http.hpp"

namespace dash::storage::azure_blob {
namespace {

std::string blob_xml(std::string_view name, std::string_view members) {
  return fmt::format(
      "<Blob><Name>{}</Name>{}<Properties><Content-Length>5</Content-Length>"
      "<Last-Modified>Fri, 03 Jul 2026 14:00:00 GMT</Last-Modified></Properties></Blob>",
      name, members);
}
std::string list_xml(std::string_view blobs, std::string_view marker = "") {
  return fmt::format("<EnumerationResults><Blobs>{}</Blobs><NextMarker>{}</NextMarker></EnumerationResults>",
                     blobs, marker);
}

class AzureVersions : public ::testing::Test {
 protected:
  net::ScriptedHttp http_;
  FakeClock clock_;
  std::unique_ptr<ObjectStore> store_ = must(open_azure_blob(
      {{"storage_obj_cloud2_account", "acct"}, {"storage_obj_cloud2_account_key", "c2VjcmV0LWtleQ=="}}, http_,
      clock_));
};

TEST_F(AzureVersions, AreThoseOfTheBlobAloneNewestFirst) {
  http_.answer(200, list_xml(blob_xml("k", "<VersionId>2026-01-01T00:00:00.1Z</VersionId>") +
                                 blob_xml("k", "<Snapshot>2026-02-01T00:00:00.1Z</Snapshot>"),
                             "next"));
  http_.answer(200, list_xml(blob_xml("k",
                                      "<VersionId>2026-03-01T00:00:00.1Z</VersionId>"
                                      "<IsCurrentVersion>true</IsCurrentVersion>") +
                             blob_xml("k.lock",
                                      "<VersionId>2026-04-01T00:00:00.1Z</VersionId>"
                                      "<IsCurrentVersion>true</IsCurrentVersion>")));
  auto kept = must(store_->versions("k"));
  EXPECT_EQ(kept.versioning, Versioning::on);
  ASSERT_EQ(kept.versions.size(), 3u);
  EXPECT_EQ(kept.versions[0].id, "2026-03-01T00:00:00.1Z");
  EXPECT_TRUE(kept.versions[0].is_current);
  EXPECT_EQ(kept.versions[1].id, "2026-02-01T00:00:00.1Z");
  EXPECT_FALSE(kept.versions[1].is_current);
  EXPECT_NE(http_.requests.at(0).url.find("include=snapshots%2Cversions"), std::string::npos)
      << http_.requests.at(0).url;
}

TEST_F(AzureVersions, AreOffWhereTheNewestBlobHasNoVersionAndUnknownWithoutOne) {
  http_.answer(200, list_xml(blob_xml("k", "")));
  EXPECT_EQ(must(store_->versions("")).versioning, Versioning::off);
  http_.answer(200, list_xml(""));
  EXPECT_EQ(must(store_->versions("")).versioning, Versioning::unknown);
  http_.answer(404, "<Error><Code>ContainerNotFound</Code><Message>told</Message></Error>");
  EXPECT_EQ(must(store_->versions("k")).versioning, Versioning::unknown);
  http_.answer(200, "<html/>");
  EXPECT_EQ(store_->versions("k").error().code, Code::upstream);
}

}  // namespace
}  // namespace dash::storage::azure_blob
