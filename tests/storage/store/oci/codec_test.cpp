#include "core/storage/store/oci/codec.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash::storage::oci {
namespace {

TEST(OciWire, ReadsAListAndWhereItGoesOn) {
  auto page = must(parse_list(
      R"({"objects":[{"name":"a/ü","size":5368709120,"etag":"e","timeModified":"2026-07-03T14:00:00.123000+00:00"},)"
      R"({"name":"b","size":0}],"prefixes":[],"nextStartWith":"c"})"));
  ASSERT_EQ(page.objects.size(), 2u);
  EXPECT_EQ(page.objects[0].name, "a/ü");
  EXPECT_EQ(page.objects[0].size, 5'368'709'120u);
  EXPECT_EQ(page.objects[0].etag, "e");
  EXPECT_EQ(page.objects[0].modified, must(parse_iso("2026-07-03T14:00:00.123Z")));
  EXPECT_EQ(page.next_start, "c");
  EXPECT_EQ(must(parse_list(R"({"objects":[]})")).next_start, "");
}

TEST(OciWire, RefusesAListThatIsNone) {
  for (auto text :
       {"", "[]", "{}", R"({"objects":{}})", R"({"objects":[7]})", R"({"objects":[{"name":"a"}]})",
        R"({"objects":[{"name":"a","size":-1}]})", R"({"objects":[{"name":"a","size":"1"}]})"})
    EXPECT_EQ(parse_list(text).error().code, Code::upstream) << text;
}

TEST(OciWire, ReadsTheNamespace) {
  EXPECT_EQ(must(parse_namespace("\"testns\"")), "testns");
  for (auto text : {"", "\"\"", "{}", "7"}) EXPECT_FALSE(parse_namespace(text)) << text;
}

TEST(OciWire, BeginsAndCommitsAnUpload) {
  EXPECT_EQ(create_upload_body("a \"b\"", "opc-meta-x", "1"),
            R"({"object":"a \"b\"","contentType":"application/octet-stream","metadata":{"opc-meta-x":"1"}})");
  EXPECT_EQ(must(parse_upload_id(R"({"uploadId":"u1","object":"a"})")), "u1");
  EXPECT_FALSE(parse_upload_id(R"({"uploadId":""})"));
  EXPECT_EQ(commit_body({{1, "e1"}, {2, "e2"}}),
            R"({"partsToCommit":[{"partNum":1,"etag":"e1"},{"partNum":2,"etag":"e2"}]})");
}

TEST(OciWire, ReadsPartsAndUploads) {
  auto parts = must(parse_parts(R"([{"partNumber":2,"size":7,"etag":"e2","md5":"m"}])"));
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].number, 2u);
  EXPECT_EQ(parts[0].size, 7u);
  EXPECT_EQ(parts[0].etag, "e2");
  for (auto text : {"{}", "[7]", R"([{"partNumber":0,"size":7,"etag":"e"}])",
                    R"([{"partNumber":10001,"size":7,"etag":"e"}])", R"([{"partNumber":1,"etag":"e"}])"})
    EXPECT_FALSE(parse_parts(text)) << text;
  auto uploads =
      must(parse_uploads(R"([{"object":"a","uploadId":"u","timeCreated":"2026-07-03T14:00:00Z"}])"));
  ASSERT_EQ(uploads.size(), 1u);
  EXPECT_EQ(uploads[0].created, must(parse_iso("2026-07-03T14:00:00Z")));
  // An upload of unknown age is never swept.
  EXPECT_FALSE(parse_uploads(R"([{"object":"a","uploadId":"u"}])"));
}

TEST(OciWire, ReadsAnError) {
  auto error = parse_error(R"({"code":"ObjectNotFound","message":"No."})");
  EXPECT_EQ(error.code, "ObjectNotFound");
  EXPECT_EQ(error.message, "No.");
  EXPECT_EQ(parse_error("<html>").code, "");
}

TEST(OciWire, ReadsVersionsOfOneObjectAndWhetherTheyAreKept) {
  auto versions = must(parse_versions(
      R"({"items":[{"name":"k","versionId":"v1","isDeleteMarker":false,"size":3,"timeModified":"2026-01-01T00:00:00Z"},
                   {"name":"k","versionId":"v2","isDeleteMarker":true,"timeModified":"2026-01-02T00:00:00Z"},
                   {"name":"k2","versionId":"v3","isDeleteMarker":false,"timeModified":"2026-01-02T00:00:00Z"}]})",
      "k"));
  ASSERT_EQ(versions.size(), 2u);
  EXPECT_EQ(versions[0].size, 3u);
  EXPECT_TRUE(versions[1].is_deletion);
  for (auto text : {"[]", "{}", R"({"items":[1]})", R"({"items":[{"name":"k"}]})"})
    EXPECT_EQ(parse_versions(text, "k").error().code, Code::upstream) << text;
  EXPECT_EQ(must(parse_versioning(R"({"versioning":"Suspended"})")), "Suspended");
  EXPECT_EQ(must(parse_versioning("{}")), "Disabled");
  EXPECT_EQ(parse_versioning("1").error().code, Code::upstream);
}

}  // namespace
}  // namespace dash::storage::oci
