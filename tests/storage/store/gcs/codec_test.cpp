#include "core/storage/store/gcs/codec.hpp"

#include <gtest/gtest.h>

#include "core/base/json.hpp"
#include "tests/support/must.hpp"

namespace dash::storage::gcs {
namespace {

constexpr std::string_view kObject =
    R"({"kind":"storage#object","name":"config-mgmt/ü.yml","size":"5368709120","generation":"1700000000000001",)"
    R"("md5Hash":"1B2M2Y8AsgTpgAmY7PhCfg==","crc32c":"AAAAAA==","updated":"2026-07-03T14:00:00.250Z",)"
    R"("metadata":{"dashctl-digest":"p8:00","dashctl-upload":"u1","other":"x"}})";

TEST(GcsWire, ReadsAnObject) {
  auto object = must(parse_object(kObject));
  EXPECT_EQ(object.name, "config-mgmt/ü.yml");
  EXPECT_EQ(object.size, 5'368'709'120u);
  EXPECT_EQ(object.generation, "1700000000000001");
  EXPECT_EQ(object.digest, "p8:00");
  EXPECT_EQ(object.upload, "u1");
  EXPECT_EQ(object.updated, must(parse_iso("2026-07-03T14:00:00.25Z")));
}

TEST(GcsWire, RefusesAnObjectThatIsNone) {
  for (auto text :
       {"", "[]", "{}", R"({"name":"x","size":"1"})", R"({"name":"x","size":1,"generation":"1"})",
        R"({"name":"x","size":"-1","generation":"1"})", R"({"name":"","size":"1","generation":"1"})",
        R"({"name":"x","size":"1","generation":"1&a=b"})"})
    EXPECT_EQ(parse_object(text).error().code, Code::upstream) << text;
}

TEST(GcsWire, ReadsAListAndWhereItGoesOn) {
  auto page = must(parse_list(fmt::format(R"({{"items":[{}],"nextPageToken":"abc"}})", kObject)));
  ASSERT_EQ(page.objects.size(), 1u);
  EXPECT_EQ(page.next_page_token, "abc");
  auto empty = must(parse_list(R"({"kind":"storage#objects"})"));
  EXPECT_TRUE(empty.objects.empty());
  EXPECT_EQ(empty.next_page_token, "");
  EXPECT_FALSE(parse_list(R"({"items":[{}]})"));
}

TEST(GcsWire, ReadsARewriteThatIsDoneAndOneThatIsNot) {
  auto done = must(parse_rewrite(fmt::format(R"({{"done":true,"resource":{}}})", kObject)));
  ASSERT_TRUE(done.object);
  auto more = must(parse_rewrite(R"({"done":false,"rewriteToken":"t"})"));
  EXPECT_FALSE(more.object);
  EXPECT_EQ(more.token, "t");
  for (auto text : {"{}", R"({"done":false})", R"({"done":true})", R"({"done":"true"})"})
    EXPECT_FALSE(parse_rewrite(text)) << text;
}

TEST(GcsWire, WritesWhatAnObjectIsToBe) {
  EXPECT_EQ(object_body("", "", "", ""), R"({"contentType":"application/octet-stream"})");
  EXPECT_EQ(object_body("n", "p8:00", "u1", "bWQ1"),
            R"({"contentType":"application/octet-stream","name":"n","md5Hash":"bWQ1",)"
            R"("metadata":{"dashctl-digest":"p8:00","dashctl-upload":"u1"}})");
}

TEST(GcsWire, PutsAnObjectAndItsBytesInOneBody) {
  auto body = multipart_body("{}", "a\r\n--b", "xyz");
  EXPECT_EQ(body.content_type, "multipart/related; boundary=xyz");
  EXPECT_EQ(body.bytes,
            "--xyz\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n{}\r\n--xyz\r\n"
            "Content-Type: application/octet-stream\r\n\r\na\r\n--b\r\n--xyz--\r\n");
}

TEST(GcsWire, SaysWhichBytesComeAndAsksWhichAreKept) {
  EXPECT_EQ(content_range(0, 8'388'608, std::nullopt), "bytes 0-8388607/*");
  EXPECT_EQ(content_range(8'388'608, 1, 8'388'609), "bytes 8388608-8388608/8388609");
  EXPECT_EQ(content_range(0, 0, std::nullopt), "bytes */*");
  EXPECT_EQ(content_range(0, 0, 0), "bytes */0");
  EXPECT_EQ(must(parse_received_size(std::nullopt)), 0u);
  EXPECT_EQ(must(parse_received_size("bytes=0-262143")), 262'144u);
  for (auto text : {"", "bytes=", "bytes=1-5", "bytes 0-5", "bytes=0-x", "bytes=0-18446744073709551615"})
    EXPECT_EQ(parse_received_size(text).error().code, Code::upstream) << text;
}

TEST(GcsWire, TakesFromALocationWhatIsBehindTheHost) {
  EXPECT_EQ(must(session_target(
                "https://elsewhere:1/upload/storage/v1/b/b/o?uploadType=resumable&upload_id=A-b_c")),
            "/upload/storage/v1/b/b/o?uploadType=resumable&upload_id=A-b_c");
  for (auto text : {"", "/upload?upload_id=x", "https://host", "https://host/upload",
                    "https://h/u?upload_id=a\r\nb", "https://h/u?upload_id=a#f"})
    EXPECT_EQ(session_target(text).error().code, Code::upstream) << text;
}

TEST(GcsWire, ReadsErrorsOfTheApiAndOfTheTokenEndpoint) {
  auto api = parse_error(R"({"error":{"code":412,"message":"No.","errors":[{"reason":"conditionNotMet"}]}})");
  EXPECT_EQ(api.code, "conditionNotMet");
  EXPECT_EQ(api.message, "No.");
  auto token = parse_error(R"({"error":"invalid_grant","error_description":"Bad."})");
  EXPECT_EQ(token.code, "invalid_grant");
  EXPECT_EQ(token.message, "Bad.");
  for (auto text : {"", "Not Found", "[]", R"({"error":7})", R"({"error":{"errors":[7]}})"})
    EXPECT_EQ(parse_error(text).code, "") << text;
}

}  // namespace
}  // namespace dash::storage::gcs
