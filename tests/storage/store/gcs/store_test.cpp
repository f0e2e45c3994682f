// What no real server does on demand: parts stored in pieces, rewrites in steps, lost answers, throttling.
#include "core/storage/store/gcs/store.hpp"

#include <gtest/gtest.h>

#include "core/base/buffer_pool.hpp"
#include "core/base/file.hpp"
#include "core/base/json.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/must.hpp"
#include "tests/support/scripted_http.hpp"

namespace dash::storage::gcs {
namespace {

std::string key_file() {
  return dump_json(Json{{"type", "service_account"},
                        {"private_key", must(read_file(DASH_TESTDATA "/oci/draft_cavage_key.pem", 1 << 16))},
                        {"client_email", "sa@p.iam.gserviceaccount.com"},
                        {"token_uri", "https://tokens.example/token"}});
}

std::string object_json(std::string_view name, std::size_t size, std::string_view upload = "") {
  return fmt::format(R"({{"name":"{}","size":"{}","generation":"7","metadata":{{"dashctl-upload":"{}"}}}})",
                     name, size, upload);
}

class GcsStore : public testing::Test {
 protected:
  void give_token(std::string_view token) {
    http_.answer(200,
                 fmt::format(R"({{"access_token":"{}","expires_in":3599,"token_type":"Bearer"}})", token));
  }
  void refuse(int status, std::string_view reason, net::Headers headers = {}) {
    http_.answer(status,
                 fmt::format(R"({{"error":{{"code":{},"message":"told","errors":[{{"reason":"{}"}}]}}}})",
                             status, reason),
                 std::move(headers));
  }
  // Requests to the store itself, without that for the token.
  const net::SentRequest& asked(std::size_t n) const { return http_.requests.at(n + 1); }
  static bool says(const Error& error, std::string_view part) {
    return error.message.find(part) != std::string::npos;
  }
  static constexpr std::string_view kSession = "/upload/storage/v1/b/assets/o?upload_id=s1";

  net::ScriptedHttp http_;
  FakeClock clock_;
  std::unique_ptr<ObjectStore> store_ = must(open_gcs(
      {{"storage_obj_cloud3_bucket", "assets"}, {"cloud3_service_account_json", key_file()}}, http_, clock_));
  std::string upload_ = "u1\n" + std::string(kSession) + "\nk.deb";
};

TEST_F(GcsStore, BeginsInTheStagingFolderAndSpeaksToTheSessionAtItsOwnEndpoint) {
  give_token("tok");
  http_.answer(200, "", {{"Location", "https://elsewhere.example" + std::string(kSession)}});
  http_.answer(308, "", {{"Range", "bytes=0-8388607"}});
  auto upload = must(store_->begin("k.deb", 100));
  EXPECT_NE(asked(0).url.find("&name=.dashctl-uploads%2F"), std::string::npos) << asked(0).url;
  must(store_->put_part(upload, 1, std::string(kPartBytes, 'x'), false));
  EXPECT_EQ(asked(1).url, "https://storage.googleapis.com" + std::string(kSession));
  EXPECT_EQ(asked(1).headers.get("Content-Range"), "bytes 0-8388607/*");
  EXPECT_EQ(asked(1).headers.get("Authorization"), std::nullopt);
}

TEST_F(GcsStore, SendsTheRestOfAPartThatWasKeptInPieces) {
  http_.answer(308, "", {{"Range", "bytes=0-8650751"}});  // 256 KiB of the second part
  http_.answer(200, object_json(".dashctl-uploads/u1", kPartBytes + 300'000));
  must(store_->put_part(upload_, 2, std::string(300'000, 'x'), true));
  ASSERT_EQ(http_.requests.size(), 2u);
  EXPECT_EQ(http_.requests[0].headers.get("Content-Range"), "bytes 8388608-8688607/8688608");
  EXPECT_EQ(http_.requests[1].headers.get("Content-Range"), "bytes 8650752-8688607/8688608");
  EXPECT_EQ(http_.requests[1].body.size(), 300'000u - 262'144u);
}

TEST_F(GcsStore, APartOfWhichNothingIsKeptMayBeSentAgain) {
  http_.answer(308);
  EXPECT_EQ(store_->put_part(upload_, 1, std::string(kPartBytes, 'x'), false).error().code,
            Code::unreachable);
}

TEST_F(GcsStore, APartWithAGapBeforeItIsAConflict) {
  http_.answer(308, "", {{"Range", "bytes=0-262143"}});
  EXPECT_EQ(store_->put_part(upload_, 3, std::string(kPartBytes, 'x'), false).error().code, Code::conflict);
}

TEST_F(GcsStore, ACancelledOrForgottenSessionIsGone) {
  for (int status : {404, 410, 499}) {
    http_.answer(status);
    EXPECT_EQ(store_->put_part(upload_, 1, "x", true).error().code, Code::not_found) << status;
    http_.answer(status);
    EXPECT_EQ(store_->staged_parts(upload_).error().code, Code::not_found) << status;
  }
}

TEST_F(GcsStore, AStateThatMakesNoSenseIsNotBelieved) {
  http_.answer(308, "", {{"Range", "bytes=5-9"}});
  EXPECT_EQ(store_->staged_parts(upload_).error().code, Code::upstream);
  http_.answer(200, "<html>proxy</html>");
  EXPECT_EQ(store_->put_part(upload_, 1, "x", true).error().code, Code::upstream);
}

TEST_F(GcsStore, APartThatWasCutOffIsNotStaged) {
  http_.answer(308, "", {{"Range", "bytes=0-12582911"}});
  auto parts = must(store_->staged_parts(upload_));
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].size, kPartBytes);
}

TEST_F(GcsStore, CommitsByARewriteInAsManyStepsAsTheServiceWants) {
  give_token("tok");
  http_.answer(200, object_json(".dashctl-uploads/u1", 3));
  http_.answer(200, R"({"done":false,"rewriteToken":"more"})");
  http_.answer(200, fmt::format(R"({{"done":true,"resource":{}}})", object_json("k.deb", 3, "u1")));
  http_.answer(204);
  auto made = must(store_->commit(upload_, {{1, 3, ""}}, {.digest = "p8:00", .only_if_absent = true}));
  EXPECT_EQ(made.size, 3u);
  EXPECT_EQ(
      asked(1).url,
      "https://storage.googleapis.com/storage/v1/b/assets/o/.dashctl-uploads%2Fu1/rewriteTo/b/assets/o/k.deb"
      "?ifSourceGenerationMatch=7&ifGenerationMatch=0");
  EXPECT_EQ(asked(2).url, asked(1).url + "&rewriteToken=more");
  EXPECT_NE(asked(2).body.find(R"("dashctl-digest":"p8:00")"), std::string::npos);
  EXPECT_EQ(asked(3).method, "DELETE");
  EXPECT_TRUE(asked(3).url.ends_with("/o/.dashctl-uploads%2Fu1"));
}

TEST_F(GcsStore, ACommitThatCannotCleanUpIsDoneAllTheSame) {
  give_token("tok");
  http_.answer(200, object_json(".dashctl-uploads/u1", 3));
  http_.answer(200, fmt::format(R"({{"done":true,"resource":{}}})", object_json("k.deb", 3, "u1")));
  http_.answer(503);
  EXPECT_TRUE(store_->commit(upload_, {{1, 3, ""}}, {}));
}

TEST_F(GcsStore, ACommitWhoseAnswerWasLostAnswersItsObject) {
  give_token("tok");
  refuse(404, "notFound");
  http_.answer(200, object_json("k.deb", 3, "u1"));
  EXPECT_EQ(must(store_->commit(upload_, {{1, 3, ""}}, {})).key, "k.deb");
}

TEST_F(GcsStore, ACommitOfAnUploadThatIsGoneMakesNothing) {
  give_token("tok");
  refuse(404, "notFound");
  http_.answer(200, object_json("k.deb", 3, "another"));
  EXPECT_EQ(store_->commit(upload_, {{1, 3, ""}}, {}).error().code, Code::not_found);
}

TEST_F(GcsStore, ACommitOfOtherBytesThanItsPartsIsRefused) {
  give_token("tok");
  http_.answer(200, object_json(".dashctl-uploads/u1", 4));
  EXPECT_EQ(store_->commit(upload_, {{1, 3, ""}}, {}).error().code, Code::integrity);
  EXPECT_EQ(http_.requests.size(), 2u);
}

TEST_F(GcsStore, NeverListsTheStagingFolder) {
  give_token("tok");
  http_.answer(200, fmt::format(R"({{"items":[{},{}],"nextPageToken":"n"}})",
                                object_json(".dashctl-uploads/u9", 1), object_json("a.yml", 1)));
  auto page = must(store_->list("", ""));
  ASSERT_EQ(page.objects.size(), 1u);
  EXPECT_EQ(page.objects[0].key, "a.yml");
  EXPECT_EQ(page.cursor, "n");
}

TEST_F(GcsStore, SendsTheMd5WithTheBytes) {
  give_token("tok");
  http_.answer(200, object_json("a.yml", 3));
  must(store_->put("a.yml", "abc", {}));
  EXPECT_NE(asked(0).body.find(R"("md5Hash":"kAFQmDzST7DWlj99KOF/cg==")"), std::string::npos);
}

TEST_F(GcsStore, AsksForAnotherTokenWhenOneEndsEarly) {
  give_token("tok-1");
  refuse(401, "authError");
  give_token("tok-2");
  http_.answer(200, R"({"kind":"storage#objects"})");
  must(store_->list("", ""));
  EXPECT_EQ(http_.requests.at(0).url, "https://tokens.example/token");
  EXPECT_EQ(http_.requests.at(3).headers.get("Authorization"), "Bearer tok-2");
}

TEST_F(GcsStore, HonoursThrottlingInBothItsForms) {
  give_token("tok");
  refuse(429, "rateLimitExceeded", {{"Retry-After", "9"}});
  auto error = store_->list("", "").error();
  EXPECT_EQ(error.code, Code::busy);
  EXPECT_EQ(error.retry_after, std::chrono::seconds(9));
  refuse(403, "userRateLimitExceeded");
  EXPECT_EQ(store_->list("", "").error().code, Code::busy);
}

TEST_F(GcsStore, NamesTheSettingOfARefusedAccountAndTheClock) {
  http_.answer(400,
               R"({"error":"invalid_grant","error_description":"Invalid JWT: Token must be short-lived"})",
               {{"Date", "Fri, 03 Jul 2026 13:00:00 GMT"}});
  auto error = store_->list("", "").error();
  EXPECT_EQ(error.code, Code::upstream);
  EXPECT_TRUE(says(error, "invalid_grant"));
  EXPECT_TRUE(says(error, "cloud3_service_account_json"));
  EXPECT_TRUE(says(error, "clock is 60 minutes ahead"));
}

TEST_F(GcsStore, AMissingBucketIsSomethingToMend) {
  give_token("tok");
  http_.answer(
      404,
      R"({"error":{"code":404,"message":"The specified bucket does not exist.","errors":[{"reason":"notFound"}]}})");
  auto error = store_->head("a.yml").error();
  EXPECT_EQ(error.code, Code::upstream);
  EXPECT_TRUE(says(error, "storage_obj_cloud3_bucket"));
}

TEST_F(GcsStore, AnAbortTakesTheSessionAndWhatItMade) {
  http_.answer(499);
  give_token("tok");
  http_.answer(204);
  must(store_->abort(upload_));
  EXPECT_EQ(http_.requests.at(0).method, "DELETE");
  EXPECT_TRUE(http_.requests.at(0).url.ends_with(kSession));
  EXPECT_TRUE(http_.requests.at(2).url.ends_with("/o/.dashctl-uploads%2Fu1"));
}

}  // namespace
}  // namespace dash::storage::gcs
