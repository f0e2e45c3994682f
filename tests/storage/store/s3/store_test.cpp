// What no real server does on demand: errors behind 200, throttling, wrong clocks and regions, lost answers.
#include "core/storage/store/s3/store.hpp"

#include <gtest/gtest.h>

#include "core/crypto/hash.hpp"
#include "core/net/http/retry.hpp"
#include "core/storage/store/s3/upload_ref.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/must.hpp"
#include "tests/support/scripted_http.hpp"

namespace dash::storage::s3 {
namespace {

class S3Store : public testing::Test {
 protected:
  net::ScriptedHttp http_;
  FakeClock clock_;
  std::unique_ptr<ObjectStore> store_ = must(open_s3({{"storage_obj_cloud1_bucket", "assets"},
                                                      {"storage_obj_cloud1_region", "eu-west-1"},
                                                      {"cloud1_access_key_id", "AKID"},
                                                      {"cloud1_secret_access_key", "very secret"}},
                                                     http_, clock_));
  std::string upload_ = write_upload_ref({"k.deb", "id"});
  std::string md5_ = crypto::to_hex(crypto::md5("x"));

  Error refused(int status, std::string_view code, net::Headers headers = {}, std::string_view more = "") {
    http_.answer(status, fmt::format("<Error><Code>{}</Code><Message>told</Message>{}</Error>", code, more),
                 std::move(headers));
    return store_->list("", "").error();
  }
  static bool says(const Error& error, std::string_view part) {
    return error.message.find(part) != std::string::npos;
  }
};

TEST_F(S3Store, SignsEveryRequestAndItsBody) {
  http_.answer(200, "", {{"ETag", "\"e\""}});
  must(store_->put("k", "body", {.digest = "p8:00", .only_if_absent = true}));
  const auto& headers = http_.requests.at(0).headers;
  EXPECT_EQ(headers.get("x-amz-content-sha256"), crypto::to_hex(crypto::sha256("body")));
  EXPECT_EQ(headers.get("x-amz-date"), "20260703T140000Z");
  EXPECT_EQ(headers.get("If-None-Match"), "*");
  EXPECT_EQ(headers.get("x-amz-meta-dashctl-digest"), "p8:00");
  auto authorization = headers.get("Authorization").value_or("");
  EXPECT_TRUE(authorization.starts_with(
      "AWS4-HMAC-SHA256 Credential=AKID/20260703/eu-west-1/s3/aws4_request, "
      "SignedHeaders=content-type;host;if-none-match;x-amz-content-sha256;x-amz-date;"
      "x-amz-meta-dashctl-digest, Signature="))
      << authorization;
}

TEST_F(S3Store, NeedsBothHalvesOfTheCredentials) {
  auto store = open_s3({{"storage_obj_cloud1_bucket", "b"}, {"cloud1_access_key_id", "AKID"}}, http_, clock_);
  EXPECT_TRUE(says(store.error(), "cloud1_secret_access_key"));
}

TEST_F(S3Store, TellsAWrongClockWithBothTimes) {
  auto error = refused(403, "RequestTimeTooSkewed", {{"Date", "Fri, 03 Jul 2026 15:00:00 GMT"}});
  EXPECT_EQ(error.code, Code::upstream);
  EXPECT_TRUE(says(error, "2026-07-03T14:00:00Z") && says(error, "2026-07-03T15:00:00Z") &&
              says(error, "clock"))
      << error.message;
}

TEST_F(S3Store, TellsWhereAMisplacedBucketIs) {
  auto error = refused(301, "PermanentRedirect", {{"x-amz-bucket-region", "us-west-2"}});
  EXPECT_TRUE(says(error, "us-west-2") && says(error, "storage_obj_cloud1_region")) << error.message;
  EXPECT_TRUE(
      says(refused(400, "AuthorizationHeaderMalformed", {}, "<Region>eu-north-1</Region>"), "eu-north-1"));
}

TEST_F(S3Store, TellsWrongCredentialsFromMissingPermissionsAndAMissingBucket) {
  EXPECT_TRUE(says(refused(403, "SignatureDoesNotMatch"), "cloud1_secret_access_key"));
  EXPECT_TRUE(says(refused(403, "AccessDenied"), "permission"));
  auto error = refused(404, "NoSuchBucket");
  EXPECT_EQ(error.code, Code::upstream);
  EXPECT_TRUE(says(error, "storage_obj_cloud1_bucket"));
}

TEST_F(S3Store, HandsThrottlingOnWithItsRetryAfter) {
  auto error = refused(503, "SlowDown", {{"Retry-After", "9"}});
  EXPECT_TRUE(net::is_transient(error));
  EXPECT_EQ(error.retry_after, std::chrono::seconds(9));
  EXPECT_TRUE(net::is_transient(refused(400, "RequestTimeout")));
}

TEST_F(S3Store, NeverRetriesItself) {
  refused(500, "InternalError");
  EXPECT_EQ(http_.requests.size(), 1u);
}

TEST_F(S3Store, SeesAnErrorBehindTheGoodStatusOfACommit) {
  http_.answer(200, "<Error><Code>InternalError</Code><Message>told</Message></Error>");
  auto object = store_->commit(upload_, {{1, 1, md5_}}, {});
  ASSERT_FALSE(object);
  EXPECT_TRUE(net::is_transient(object.error()));
  EXPECT_TRUE(says(object.error(), "InternalError"));
}

TEST_F(S3Store, ChecksTheSizeOfWhatItCommitted) {
  http_.answer(200, "<CompleteMultipartUploadResult><ETag>\"e-1\"</ETag></CompleteMultipartUploadResult>");
  http_.answer(200, "", {{"ETag", "\"e-1\""}, {"Content-Length", "7"}});
  EXPECT_EQ(store_->commit(upload_, {{1, 8, md5_}}, {}).error().code, Code::integrity);
}

TEST_F(S3Store, ACommitWhoseAnswerWasLostCanBeAskedAgain) {
  std::vector<StagedPart> parts{{1, 8, md5_}, {2, 1, md5_}};
  http_.answer(404, "<Error><Code>NoSuchUpload</Code></Error>");
  http_.answer(200, "", {{"ETag", "\"" + composed_etag(parts) + "\""}, {"Content-Length", "9"}});
  EXPECT_EQ(must(store_->commit(upload_, parts, {})).size, 9u);
}

TEST_F(S3Store, AnotherObjectUnderTheNameIsNoProofOfACommit) {
  http_.answer(404, "<Error><Code>NoSuchUpload</Code></Error>");
  http_.answer(200, "", {{"ETag", "\"other\""}, {"Content-Length", "8"}});
  EXPECT_EQ(store_->commit(upload_, {{1, 8, md5_}}, {}).error().code, Code::not_found);
}

TEST_F(S3Store, RefusesAStoreThatIgnoresRanges) {
  http_.answer(200, "whole");
  std::string out(16, '\0');
  EXPECT_EQ(store_->read("k", 4, "", out).error().code, Code::upstream);
}

TEST_F(S3Store, RefusesMorePartsThanTheProtocolHas) {
  EXPECT_EQ(store_->begin("k", 10'000ull * (8u << 20) + 1).error().code, Code::too_large);
  EXPECT_TRUE(http_.requests.empty());
}

TEST_F(S3Store, SweepsOnlyOldUploadsBeneathThePrefix) {
  auto upload = [](std::string_view key, std::string_view began) {
    return fmt::format("<Upload><Key>{}</Key><UploadId>{}-id</UploadId><Initiated>{}</Initiated></Upload>",
                       key, key, began);
  };
  http_.answer(200,
               fmt::format("<ListMultipartUploadsResult>{}{}{}</ListMultipartUploadsResult>",
                           upload("p/old", "2026-07-01T00:00:00Z"), upload("p/new", "2026-07-03T13:00:00Z"),
                           upload("q/old", "2026-07-01T00:00:00Z")));
  http_.answer(200,
               "<ListPartsResult><Part><PartNumber>1</PartNumber><ETag>e</ETag><Size>7</Size></Part>"
               "</ListPartsResult>");
  auto found = must(store_->leftovers("p/", clock_.now() - std::chrono::hours(24)));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].key, "p/old");
  EXPECT_EQ(found[0].bytes, 7u);
  EXPECT_EQ(format_iso(found[0].began), "2026-07-01T00:00:00Z");
  http_.answer(204);
  must(store_->drop(found[0]));
  ASSERT_EQ(http_.requests.size(), 3u);
  EXPECT_NE(http_.requests.at(2).url.find("p/old?uploadId=p%2Fold-id"), std::string::npos)
      << http_.requests.at(2).url;
}

TEST_F(S3Store, SweepsNothingWhileTheClocksAreAYearApart) {
  for (auto date : {"Sat, 03 Jul 2027 14:00:00 GMT", "Thu, 03 Jul 2025 14:00:00 GMT"}) {
    http_.answer(200,
                 "<ListMultipartUploadsResult><Upload><Key>p/x</Key><UploadId>x</UploadId>"
                 "<Initiated>2026-07-01T00:00:00Z</Initiated></Upload></ListMultipartUploadsResult>",
                 {{"Date", date}});
    auto refused = store_->leftovers("p/", clock_.now()).error();
    EXPECT_EQ(refused.code, Code::upstream);
    EXPECT_NE(refused.message.find("clock"), std::string::npos) << refused.message;
  }
  EXPECT_EQ(http_.requests.size(), 2u) << "no upload was aborted";
}

TEST_F(S3Store, CopiesWhatOneRequestDoesNotTakeInParts) {
  constexpr std::uint64_t kGiB = 1ull << 30;
  std::vector<std::uint64_t> reported;
  InsideCopy copy{{"exports/ä.vhd", 6 * kGiB + 512, "source", {}, ""}, "builds", "images/a.vhd", true};
  copy.watch = [&](std::uint64_t bytes) -> Result<void> {
    reported.push_back(bytes);
    return {};
  };
  http_.answer(200, "<InitiateMultipartUploadResult><UploadId>id</UploadId></InitiateMultipartUploadResult>");
  std::vector<StagedPart> parts;
  for (std::uint32_t n = 1; n <= 7; ++n) {
    http_.answer(200, fmt::format("<CopyPartResult><ETag>\"{}\"</ETag></CopyPartResult>", md5_));
    parts.push_back({n, n < 7 ? kGiB : 512, md5_});
  }
  auto etag = composed_etag(parts);
  http_.answer(
      200, fmt::format("<CompleteMultipartUploadResult><ETag>\"{}\"</ETag></CompleteMultipartUploadResult>",
                       etag));
  http_.answer(200, "",
               {{"ETag", fmt::format("\"{}\"", etag)}, {"Content-Length", std::to_string(copy.from.size)}});
  EXPECT_EQ(must(store_->copy_inside(copy)).size, copy.from.size);
  EXPECT_EQ(http_.requests[1].headers.get("x-amz-copy-source"), "/builds/exports/%C3%A4.vhd");
  EXPECT_EQ(http_.requests[1].headers.get("x-amz-copy-source-if-match"), "\"source\"");
  EXPECT_EQ(http_.requests[1].headers.get("x-amz-copy-source-range"), "bytes=0-1073741823");
  EXPECT_EQ(http_.requests[7].headers.get("x-amz-copy-source-range"), "bytes=6442450944-6442451455");
  EXPECT_EQ(http_.requests[8].headers.get("If-None-Match"), "*");
  EXPECT_EQ(reported.back(), copy.from.size);
}

TEST_F(S3Store, AbortsACopyInPartsThatIsEndedOrRefused) {
  InsideCopy copy{{"a.vhd", 512, "source", {}, ""}, "", "images/a.vhd", true};
  http_.answer(200, "<InitiateMultipartUploadResult><UploadId>id</UploadId></InitiateMultipartUploadResult>");
  http_.answer(200, "<Error><Code>PreconditionFailed</Code></Error>");
  http_.answer(204);
  EXPECT_FALSE(store_->copy_inside(copy));
  EXPECT_EQ(http_.requests[1].headers.get("x-amz-copy-source-range"), std::nullopt);
  EXPECT_EQ(http_.requests[2].method, "DELETE");
  copy.watch = [](std::uint64_t) -> Result<void> { return fail(Code::interrupted, "stopped"); };
  http_.answer(200, "<InitiateMultipartUploadResult><UploadId>id</UploadId></InitiateMultipartUploadResult>");
  http_.answer(204);
  EXPECT_EQ(store_->copy_inside(copy).error().code, Code::interrupted);
  EXPECT_EQ(http_.requests.back().method, "DELETE");
}

TEST_F(S3Store, RemovesOnlyTheObjectThatWasSeen) {
  http_.answer(200, "", {{"ETag", "\"new\""}, {"Content-Length", "1"}});
  EXPECT_EQ(store_->remove_unchanged({"k", 1, "old", {}, ""}).error().code, Code::precondition);
  EXPECT_EQ(http_.requests.size(), 1u);
  http_.answer(200, "", {{"ETag", "\"new\""}, {"Content-Length", "1"}});
  http_.answer(204);
  must(store_->remove_unchanged({"k", 1, "new", {}, ""}));
  EXPECT_EQ(http_.requests.back().headers.get("If-Match"), "\"new\"");
}

}  // namespace
}  // namespace dash::storage::s3
