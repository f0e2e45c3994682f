// What no real server does on demand: lost answers, throttling, wrong clocks; and which requests are made at
// all.
#include "core/storage/store/oci/store.hpp"

#include <gtest/gtest.h>

#include "core/base/file.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/must.hpp"
#include "tests/support/scripted_http.hpp"
#include "tests/support/sweep_store.hpp"

namespace dash::storage::oci {
namespace {

class OciStore : public testing::Test {
 protected:
  static config::Values settings() {
    return {{"storage_obj_cloud4_bucket", "assets"},
            {"storage_obj_cloud4_namespace", "ns"},
            {"cloud4_region", "eu-frankfurt-1"},
            {"cloud4_tenancy_ocid", "t"},
            {"cloud4_user_ocid", "u"},
            {"cloud4_fingerprint", "73:61:a2:21:67:e0:df:be:7e:4b:93:1e:15:98:a5:b7"},
            {"cloud4_private_key", must(read_file(DASH_TESTDATA "/oci/draft_cavage_key.pem", 1 << 16))}};
  }
  std::unique_ptr<ObjectStore> open(const config::Values& values) {
    return must(open_oci(values, http_, clock_));
  }
  void refuse(int status, std::string_view code, net::Headers headers = {}) {
    http_.answer(status, fmt::format(R"({{"code":"{}","message":"told"}})", code), std::move(headers));
  }
  static bool says(const Error& error, std::string_view part) {
    return error.message.find(part) != std::string::npos;
  }
  net::ScriptedHttp http_;
  FakeClock clock_;
  std::unique_ptr<ObjectStore> store_ = open(settings());
  std::string upload_ = "mark/id/dir/k.deb";
};

TEST_F(OciStore, LooksTheNamespaceUpOnce) {
  auto values = settings();
  values.erase("storage_obj_cloud4_namespace");
  auto store = open(values);
  http_.answer(200, "\"found\"");
  http_.answer(200, R"({"objects":[]})");
  http_.answer(200, R"({"objects":[]})");
  must(store->list("", ""));
  must(store->list("", ""));
  ASSERT_EQ(http_.requests.size(), 3u);
  EXPECT_EQ(http_.requests[0].url, "https://objectstorage.eu-frankfurt-1.oraclecloud.com/n");
  EXPECT_TRUE(http_.requests[1].url.starts_with(
      "https://objectstorage.eu-frankfurt-1.oraclecloud.com/n/found/b/assets/o?"));
}

TEST_F(OciStore, SignsABodyOfJsonAndExemptsAPart) {
  http_.answer(200, R"({"uploadId":"id"})");
  http_.answer(200, "", {{"ETag", "e1"}});
  must(store_->put_part(must(store_->begin("k.deb", 1)), 1, "x", true));
  auto signed_headers = [&](std::size_t n) {
    return http_.requests.at(n).headers.get("authorization").value_or("");
  };
  EXPECT_NE(signed_headers(0).find("content-length content-type x-content-sha256"), std::string::npos);
  EXPECT_NE(signed_headers(1).find(R"(headers="date (request-target) host")"), std::string::npos);
  EXPECT_EQ(http_.requests.at(1).headers.get("content-md5"), "ndTkYSaMgDT1yFZOFVxnpg==");
}

TEST_F(OciStore, GoesThroughAllPagesOfParts) {
  http_.answer(200, R"([{"partNumber":1,"size":8,"etag":"e1"}])", {{"opc-next-page", "1"}});
  http_.answer(200, R"([{"partNumber":2,"size":3,"etag":"e2"}])");
  auto parts = must(store_->staged_parts(upload_));
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[1].ref, "e2");
  EXPECT_TRUE(http_.requests.at(1).url.ends_with("&page=1"));
  EXPECT_NE(http_.requests.at(1).url.find("/u/dir/k.deb?uploadId=id"), std::string::npos);
}

TEST_F(OciStore, ACommitWhoseAnswerWasLostAnswersItsObject) {
  refuse(404, "NoSuchUpload");
  http_.answer(200, "", {{"Content-Length", "3"}, {"ETag", "e"}, {"opc-meta-dashctl-upload", "mark"}});
  EXPECT_EQ(must(store_->commit(upload_, {{1, 3, "e1"}}, {})).size, 3u);
}

TEST_F(OciStore, ACommitOfAnUploadThatIsGoneMakesNothing) {
  refuse(404, "NoSuchUpload");
  http_.answer(200, "", {{"Content-Length", "3"}, {"opc-meta-dashctl-upload", "another"}});
  EXPECT_EQ(store_->commit(upload_, {{1, 3, "e1"}}, {}).error().code, Code::not_found);
}

TEST_F(OciStore, NamesSettingsAndClockWhenTheSignatureIsRefused) {
  refuse(401, "NotAuthenticated", {{"Date", "Fri, 03 Jul 2026 14:06:00 GMT"}});
  auto error = store_->list("", "").error();
  EXPECT_EQ(error.code, Code::upstream);
  EXPECT_TRUE(says(error, "NotAuthenticated"));
  EXPECT_TRUE(says(error, "cloud4_private_key"));
  EXPECT_TRUE(says(error, "clock is 6 minutes behind"));
  EXPECT_FALSE(says(error, "BEGIN"));
}

TEST_F(OciStore, ABucketThatIsMissingOrHiddenIsSomethingToMend) {
  refuse(404, "BucketNotFound");
  auto error = store_->put("k.yml", "x", {}).error();
  EXPECT_EQ(error.code, Code::upstream);
  EXPECT_TRUE(says(error, "storage_obj_cloud4_bucket"));
}

TEST_F(OciStore, HonoursThrottling) {
  refuse(429, "TooManyRequests", {{"Retry-After", "2"}});
  auto error = store_->put("k.yml", "x", {}).error();
  EXPECT_EQ(error.code, Code::busy);
  EXPECT_EQ(error.retry_after, std::chrono::seconds(2));
}

TEST_F(OciStore, SweepsOldUploadsBeneathThePrefixAlone) {
  http_.answer(200, R"([{"object":"p/old","uploadId":"1","timeCreated":"2026-07-01T00:00:00Z"},)"
                    R"({"object":"p/new","uploadId":"2","timeCreated":"2026-07-03T13:00:00Z"},)"
                    R"({"object":"other","uploadId":"3","timeCreated":"2026-07-01T00:00:00Z"}])");
  http_.answer(200, R"([{"partNumber":1,"size":7,"etag":"e","md5":"m"}])");
  http_.answer(204);
  EXPECT_EQ(must(sweep_store(*store_, "p/", must(parse_iso("2026-07-03T02:00:00Z")))), 1u);
  EXPECT_TRUE(http_.requests.at(2).url.ends_with("/u/p/old?uploadId=1"));
}

TEST_F(OciStore, SweepsNothingWhileTheClocksAreAYearApart) {
  for (auto date : {"Sat, 03 Jul 2027 14:00:00 GMT", "Thu, 03 Jul 2025 14:00:00 GMT"}) {
    http_.answer(200, R"([{"object":"p/x","uploadId":"1","timeCreated":"2026-07-01T00:00:00Z"}])",
                 {{"Date", date}});
    auto refused = store_->leftovers("p/", clock_.now()).error();
    EXPECT_EQ(refused.code, Code::upstream);
    EXPECT_NE(refused.message.find("clock"), std::string::npos) << refused.message;
  }
  EXPECT_EQ(http_.requests.size(), 2u) << "no upload was aborted";
}

}  // namespace
}  // namespace dash::storage::oci
