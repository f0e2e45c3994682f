// What no real server does on demand: lost answers, throttling, wrong clocks, tokens that end early.
#include "core/storage/store/azure_blob/store.hpp"

#include <gtest/gtest.h>

#include "core/storage/store/azure_blob/codec.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/must.hpp"
#include "tests/support/scripted_http.hpp"

namespace dash::storage::azure_blob {
namespace {

class AzureStore : public testing::Test {
 protected:
  static config::Values settings() {
    return {{"storage_obj_cloud2_account", "acct"}, {"storage_obj_cloud2_account_key", "c2VjcmV0LWtleQ=="}};
  }
  static config::Values principal() {
    return {{"storage_obj_cloud2_account", "acct"},
            {"cloud2_tenant_id", "t-1"},
            {"cloud2_client_id", "c-1"},
            {"cloud2_client_secret", "hunter2"}};
  }
  std::unique_ptr<ObjectStore> open(const config::Values& values) {
    return must(open_azure_blob(values, http_, clock_));
  }
  void refuse(int status, std::string_view code, net::Headers headers = {}) {
    http_.answer(status, fmt::format("<Error><Code>{}</Code><Message>told\nTime:1</Message></Error>", code),
                 std::move(headers));
  }
  void give_token(std::string_view token) {
    http_.answer(200,
                 fmt::format(R"({{"access_token":"{}","expires_in":3600,"token_type":"Bearer"}})", token));
  }
  static bool says(const Error& error, std::string_view part) {
    return error.message.find(part) != std::string::npos;
  }
  static constexpr std::string_view kEmptyList = "<EnumerationResults><Blobs/></EnumerationResults>";

  net::ScriptedHttp http_;
  FakeClock clock_;
  std::unique_ptr<ObjectStore> store_ = open(settings());
  std::string id_ = std::string(32, 'a');
  std::string upload_ = id_ + "/k.deb";
};

TEST_F(AzureStore, MakesTheContainerWithTheFirstUploadAndWritesAgain) {
  refuse(404, "ContainerNotFound");
  http_.answer(201);
  http_.answer(201, "", {{"ETag", "\"e\""}});
  EXPECT_EQ(must(store_->put("k.yml", "x", {})).etag, "e");
  ASSERT_EQ(http_.requests.size(), 3u);
  EXPECT_EQ(http_.requests[1].url, "https://acct.blob.core.windows.net/playbooks?restype=container");
  EXPECT_EQ(http_.requests[1].method, "PUT");
  EXPECT_EQ(http_.requests[2].url, http_.requests[0].url);
  EXPECT_EQ(http_.requests[2].body, "x");
}

TEST_F(AzureStore, WritesOnWhenSomebodyElseMadeTheContainer) {
  refuse(404, "ContainerNotFound");
  refuse(409, "ContainerAlreadyExists");
  http_.answer(201, "", {{"ETag", "\"e\""}});
  must(store_->put_part(upload_, 1, "x", true));
}

TEST_F(AzureStore, OfAnotherAccountIsAnotherPlaceHoweverItIsAddressed) {
  auto place = [&](const std::string& account, const std::string& endpoint, const std::string& path_style) {
    auto values = settings();
    values["storage_obj_cloud2_account"] = account;
    values["storage_obj_cloud2_endpoint"] = endpoint;
    values["storage_obj_cloud2_path_style"] = path_style;
    return open(values)->place();
  };
  for (auto style : {"", "true", "false"})
    for (auto endpoint : {"", "http://blobs:10000", "http://blobs:10000/acct", "http://blobs:10000/base",
                          "https://files.example"})
      EXPECT_NE(place("acct", endpoint, style), place("other", endpoint, style)) << endpoint << style;
  EXPECT_EQ(place("acct", "", ""), "https://acct.blob.core.windows.net/playbooks");
  EXPECT_EQ(place("acct", "http://blobs:10000", "true"), "http://blobs:10000/acct/playbooks");
  EXPECT_EQ(place("acct", "http://blobs:10000/acct", ""), "http://blobs:10000/acct/playbooks");
}

TEST_F(AzureStore, FindsALeaseWithItsHoldersNoteAndEndsIt) {
  http_.answer(200, "", {{"x-ms-lease-state", "available"}});
  EXPECT_FALSE(must(store_->find_lease("k.yml")));
  http_.answer(200, "", {{"x-ms-lease-state", "leased"}, {"x-ms-meta-terraformlockid", "eyJJRCI6ImEifQ=="}});
  EXPECT_EQ(must(store_->find_lease("k.yml")), R"({"ID":"a"})");
  http_.answer(200);
  http_.answer(201, "", {});
  http_.answer(200, "", {});
  must(store_->take_lease("k.yml", "a", R"({"ID":"a"})"));
  EXPECT_EQ(http_.requests.back().headers.get("x-ms-meta-terraformlockid"), "eyJJRCI6ImEifQ==");
  EXPECT_TRUE(http_.requests.back().url.ends_with("/playbooks/k.yml?comp=metadata"));
  EXPECT_EQ(http_.requests[http_.requests.size() - 2].headers.get("x-ms-proposed-lease-id"), "a");
  must(store_->release_lease("k.yml", "a"));
  EXPECT_TRUE(http_.requests.back().url.ends_with("/playbooks/k.yml?comp=lease"));
  EXPECT_EQ(http_.requests.back().headers.get("x-ms-lease-id"), "a");
}

TEST_F(AzureStore, AContainerBeingDeletedIsToBeWaitedFor) {
  refuse(404, "ContainerNotFound");
  refuse(409, "ContainerBeingDeleted");
  EXPECT_EQ(store_->put("k.yml", "x", {}).error().code, Code::busy);
}

TEST_F(AzureStore, AContainerThatIsNotMadeYetListsNothing) {
  refuse(404, "ContainerNotFound");
  EXPECT_TRUE(must(store_->list("", "")).objects.empty());
}

TEST_F(AzureStore, NamesSettingsAndClockWhenTheKeyIsRefused) {
  refuse(403, "AuthenticationFailed", {{"Date", "Fri, 03 Jul 2026 14:20:00 GMT"}});
  auto error = store_->list("", "").error();
  EXPECT_EQ(error.code, Code::upstream);
  EXPECT_TRUE(says(error, "AuthenticationFailed"));
  EXPECT_TRUE(says(error, "storage_obj_cloud2_account_key"));
  EXPECT_TRUE(says(error, "clock is 20 minutes behind")) << error.message;
  EXPECT_FALSE(says(error, "Time:1"));
}

TEST_F(AzureStore, HonoursThrottling) {
  refuse(503, "ServerBusy", {{"Retry-After", "7"}});
  auto error = store_->put("k.yml", "x", {}).error();
  EXPECT_EQ(error.code, Code::busy);
  EXPECT_EQ(error.retry_after, std::chrono::seconds(7));
}

TEST_F(AzureStore, ReadsAnErrorOfAHeadFromItsHeader) {
  http_.answer(404, "", {{"x-ms-error-code", "BlobNotFound"}});
  auto error = store_->head("k.yml").error();
  EXPECT_EQ(error.code, Code::not_found);
  EXPECT_TRUE(says(error, "BlobNotFound"));
}

TEST_F(AzureStore, RefusesAnAnswerThatIgnoresTheRange) {
  http_.answer(200, "abc");
  std::string out(8, '\0');
  EXPECT_EQ(store_->read("k.yml", 5, "", out).error().code, Code::upstream);
}

TEST_F(AzureStore, StagedPartsAreThisUploadsAlone) {
  http_.answer(200,
               fmt::format("<BlockList><UncommittedBlocks>{}{}{}</UncommittedBlocks></BlockList>",
                           fmt::format("<Block><Name>{}</Name><Size>3</Size></Block>", block_id(id_, 2)),
                           "<Block><Name>MDAwMDAwMDE=</Name><Size>9</Size></Block>",
                           fmt::format("<Block><Name>{}</Name><Size>8</Size></Block>", block_id(id_, 1))));
  auto parts = must(store_->staged_parts(upload_));
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].n, 1u);
  EXPECT_EQ(parts[0].size, 8u);
  EXPECT_EQ(parts[1].n, 2u);
}

TEST_F(AzureStore, ACommitWhoseAnswerWasLostAnswersItsObject) {
  refuse(400, "InvalidBlockList");
  http_.answer(200, "", {{"Content-Length", "3"}, {"ETag", "\"e\""}, {"x-ms-meta-dashctl_upload", id_}});
  EXPECT_EQ(must(store_->commit(upload_, {{1, 3, ""}}, {})).size, 3u);
}

TEST_F(AzureStore, ACommitAfterAnotherUploadsCommitSaysSo) {
  refuse(400, "InvalidBlockList");
  http_.answer(200, "", {{"Content-Length", "3"}, {"x-ms-meta-dashctl_upload", std::string(32, 'b')}});
  auto error = store_->commit(upload_, {{1, 3, ""}}, {}).error();
  EXPECT_EQ(error.code, Code::not_found);
  EXPECT_TRUE(says(error, "another upload of that name"));
}

TEST_F(AzureStore, AsksForOneTokenForManyCalls) {
  auto store = open(principal());
  give_token("tok-1");
  http_.answer(200, std::string(kEmptyList));
  http_.answer(200, std::string(kEmptyList));
  must(store->list("", ""));
  must(store->list("", ""));
  ASSERT_EQ(http_.requests.size(), 3u);
  EXPECT_EQ(http_.requests[0].url, "https://login.microsoftonline.com/t-1/oauth2/v2.0/token");
  EXPECT_EQ(http_.requests[2].headers.get("Authorization"), "Bearer tok-1");
}

TEST_F(AzureStore, AsksForAnotherTokenWhenOneEndsEarly) {
  auto store = open(principal());
  give_token("tok-1");
  refuse(401, "InvalidAuthenticationInfo");
  give_token("tok-2");
  http_.answer(200, std::string(kEmptyList));
  must(store->list("", ""));
  EXPECT_EQ(http_.requests.at(3).headers.get("Authorization"), "Bearer tok-2");
}

TEST_F(AzureStore, NamesTheSettingsOfARefusedPrincipalAndNotItsSecret) {
  auto store = open(principal());
  http_.answer(401, R"({"error":"invalid_client","error_description":"AADSTS7000215: hunter2"})");
  auto error = store->list("", "").error();
  EXPECT_EQ(error.code, Code::upstream);
  EXPECT_TRUE(says(error, "invalid_client"));
  EXPECT_TRUE(says(error, "cloud2_client_secret"));
  EXPECT_FALSE(says(error, "hunter2"));
}

TEST_F(AzureStore, AnIdentityPlatformThatIsDownMayBeAskedAgain) {
  auto store = open(principal());
  http_.answer(503, "", {{"Retry-After", "3"}});
  EXPECT_EQ(store->list("", "").error().code, Code::busy);
}

TEST_F(AzureStore, NamesTheSettingThatIsMissing) {
  EXPECT_NE(open_azure_blob({}, http_, clock_).error().message.find("storage_obj_cloud2_account"),
            std::string::npos);
  auto half = open_azure_blob({{"storage_obj_cloud2_account", "a"}}, http_, clock_);
  EXPECT_NE(half.error().message.find("storage_obj_cloud2_account_key"), std::string::npos);
}

TEST_F(AzureStore, AwaitsACopyThatTheServiceMakesLater) {
  InsideCopy copy{{"exports/a b.vhd", 1024, "source", {}, ""}, "builds", "images/a.vhd", true};
  std::vector<std::uint64_t> reported;
  copy.watch = [&](std::uint64_t bytes) -> Result<void> {
    reported.push_back(bytes);
    return {};
  };
  auto state = [&](std::string status, std::string progress) {
    return net::Headers{{"x-ms-copy-id", "c1"},
                        {"x-ms-copy-status", std::move(status)},
                        {"x-ms-copy-progress", std::move(progress)},
                        {"ETag", "\"e\""},
                        {"Content-Length", "1024"}};
  };
  http_.answer(202, "", state("pending", ""));
  http_.answer(200, "", state("pending", "512/1024"));
  http_.fail_with(Code::unreachable);
  http_.answer(200, "", state("success", "1024/1024"));
  http_.answer(200, "", state("success", "1024/1024"));
  EXPECT_EQ(must(store_->copy_inside(copy)).size, 1024u);
  EXPECT_EQ(http_.requests[0].headers.get("x-ms-copy-source"),
            "https://acct.blob.core.windows.net/builds/exports/a%20b.vhd");
  EXPECT_EQ(http_.requests[0].headers.get("x-ms-source-if-match"), "\"source\"");
  EXPECT_EQ(http_.requests[0].headers.get("If-None-Match"), "*");
  // The watch is asked after a look that failed too, so a copy can be ended while nobody answers.
  EXPECT_EQ(reported, (std::vector<std::uint64_t>{0, 512, 512, 1024}));
}

TEST_F(AzureStore, DiscardsACopyThatFailsOrIsEnded) {
  InsideCopy copy{{"a.vhd", 1024, "source", {}, ""}, "", "images/a.vhd", true};
  http_.answer(
      202, "",
      {{"x-ms-copy-id", "c1"}, {"x-ms-copy-status", "failed"}, {"x-ms-copy-status-description", "why"}});
  refuse(409, "NoPendingCopyOperation");
  http_.answer(202);
  auto failed = store_->copy_inside(copy);
  EXPECT_TRUE(!failed && says(failed.error(), "why"));
  EXPECT_EQ(http_.requests.back().method, "DELETE");
  copy.watch = [](std::uint64_t) -> Result<void> { return fail(Code::interrupted, "stopped"); };
  http_.answer(202, "", {{"x-ms-copy-id", "c2"}, {"x-ms-copy-status", "pending"}});
  http_.answer(204);
  http_.answer(202);
  EXPECT_EQ(store_->copy_inside(copy).error().code, Code::interrupted);
  EXPECT_EQ(http_.requests[4].headers.get("x-ms-copy-action"), "abort");
}

TEST_F(AzureStore, ShowsNoBlobWithoutItsBytes) {
  http_.answer(200, "", {{"x-ms-copy-status", "pending"}, {"ETag", "\"e\""}, {"Content-Length", "9"}});
  EXPECT_EQ(store_->head("a.vhd").error().code, Code::not_found);
  auto blob = [](std::string_view name, std::string_view status) {
    return fmt::format(
        "<Blob><Name>{}</Name><Properties><Content-Length>9</Content-Length><Etag>e</Etag>"
        "<CopyStatus>{}</CopyStatus></Properties></Blob>",
        name, status);
  };
  http_.answer(200, "<EnumerationResults><Blobs>" + blob("a", "pending") + blob("b", "success") +
                        blob("c", "aborted") + blob("d", "") + "</Blobs></EnumerationResults>");
  auto page = must(store_->list("", ""));
  ASSERT_EQ(page.objects.size(), 2u);
  EXPECT_EQ(page.objects[0].key + page.objects[1].key, "bd");
}

}  // namespace
}  // namespace dash::storage::azure_blob
