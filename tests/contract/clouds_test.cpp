// What each of three clouds does in its own way, against their test servers: the container that is made, the
// staging folder that is not shown, what a sweep takes. What they do alike is the store_*_test.cpp.
#include <gtest/gtest.h>

#include "core/base/buffer_pool.hpp"
#include "core/crypto/hash.hpp"
#include "tests/contract/cloud_settings.hpp"
#include "tests/support/must.hpp"
#include "tests/support/sweep_store.hpp"

namespace dash::storage {
namespace {

class Clouds : public testing::Test {
 protected:
  StoreDeps deps() { return {*http_, clock_, ""}; }
  void SetUp() override {
    make_gcs_bucket(gcs_settings(), deps());
    make_oci_bucket(oci_settings(), deps());
  }
  std::unique_ptr<ObjectStore> open(std::string_view backend, const config::Values& settings) {
    return must(open_bare_store(*must(find_backend(backend)), settings, deps()));
  }
  Time in_an_hour() const { return clock_.now() + std::chrono::hours(1); }
  Time an_hour_ago() const { return clock_.now() - std::chrono::hours(1); }

  SystemClock clock_;
  std::unique_ptr<net::HttpClient> http_ = net::make_curl_client();
  std::string folder_ = "t" + crypto::random_hex(8) + "/";
};

TEST_F(Clouds, AzureMakesItsContainerWithTheFirstPart) {
  auto settings = azure_settings();
  settings["storage_obj_cloud2_container"] = "c" + crypto::random_hex(8);
  auto store = open("obj_cloud2", settings);
  EXPECT_TRUE(must(store->list("", "")).objects.empty());
  auto upload = must(store->begin("k.deb", 3));
  must(store->put_part(upload, 1, "abc", true));
  must(store->commit(upload, must(store->staged_parts(upload)), {}));
  EXPECT_EQ(must(store->list("", "")).objects.size(), 1u);
}

TEST_F(Clouds, AzureKeepsTheBlocksOfTwoUploadsApart) {
  auto store = open("obj_cloud2", azure_settings());
  auto key = folder_ + "k.deb";
  auto one = must(store->begin(key, 3)), two = must(store->begin(key, 3));
  must(store->put_part(one, 1, "one", true));
  must(store->put_part(two, 1, "two", true));
  ASSERT_EQ(must(store->staged_parts(one)).size(), 1u);
  auto parts = must(store->staged_parts(two));
  must(store->commit(one, must(store->staged_parts(one)), {}));
  // The service drops the blocks of the other upload with the commit of the first.
  EXPECT_EQ(store->commit(two, parts, {}).error().code, Code::not_found);
  std::string out(8, '\0');
  EXPECT_EQ(must(store->read(key, 0, "", out)), 3u);
  EXPECT_EQ(out.substr(0, 3), "one");
}

TEST_F(Clouds, GcsSweepsWhatACrashLeftBetweenTheLastPartAndTheCommit) {
  auto settings = gcs_settings();
  settings["storage_obj_cloud3_bucket"] = "b" + crypto::random_hex(8);
  make_gcs_bucket(settings, deps());
  auto store = open("obj_cloud3", settings);
  auto upload = must(store->begin("k.deb", 3));
  must(store->put_part(upload, 1, "abc", true));
  EXPECT_TRUE(must(store->list("", "")).objects.empty());
  EXPECT_EQ(must(sweep_store(*store, kStagingPrefix, an_hour_ago())), 0u);
  EXPECT_EQ(must(sweep_store(*store, kStagingPrefix, in_an_hour())), 1u);
  EXPECT_EQ(store->staged_parts(upload).error().code, Code::not_found);
}

TEST_F(Clouds, GcsTakesAnUploadWhoseLengthOnlyTheLastPartTells) {
  auto store = open("obj_cloud3", gcs_settings());
  auto upload = must(store->begin(folder_ + "k.deb", std::nullopt));
  must(store->put_part(upload, 1, std::string(kPartBytes, 'a'), false));
  must(store->put_part(upload, 2, "bc", true));
  must(store->put_part(upload, 2, "bc", true));  // its answer was lost
  EXPECT_EQ(must(store->commit(upload, must(store->staged_parts(upload)), {})).size, kPartBytes + 2);
}

TEST_F(Clouds, GcsComparesTheWholeWithWhatWasSent) {
  auto store = open("obj_cloud3", gcs_settings());
  for (bool is_changed : {false, true}) {
    auto upload = must(store->begin(folder_ + "k.deb", kPartBytes + 3));
    auto first = must(store->put_part(upload, 1, std::string(kPartBytes, 'a'), false));
    // The session keeps what it has, whatever is sent again.
    if (is_changed) first = must(store->put_part(upload, 1, std::string(kPartBytes, 'b'), false));
    auto last = must(store->put_part(upload, 2, "xyz", true));
    auto made = store->commit(upload, {{1, kPartBytes, first}, {2, 3, last}}, {});
    ASSERT_EQ(made.has_value(), !is_changed);
    EXPECT_EQ(is_changed ? made.error().code : Code::integrity, Code::integrity);
  }
}

TEST_F(Clouds, GcsCopiesInsideOfItself) {
  auto store = open("obj_cloud3", gcs_settings());
  must(store->put(folder_ + "a.yml", "abc", {.digest = "p8:00"}));
  auto copy = must(store->copy_inside(
      {.from = must(store->head(folder_ + "a.yml")), .bucket = "", .to = folder_ + "b.yml"}));
  EXPECT_EQ(copy.size, 3u);
  EXPECT_EQ(must(store->head(folder_ + "b.yml")).digest, "p8:00");
}

TEST_F(Clouds, KeepTheDigestThatCameWithTheCommit) {
  for (auto [backend, settings] :
       {std::pair{"obj_cloud2", azure_settings()}, {"obj_cloud3", gcs_settings()}}) {
    auto store = open(backend, settings);
    auto upload = must(store->begin(folder_ + "k.deb", 3));
    must(store->put_part(upload, 1, "abc", true));
    must(store->commit(upload, must(store->staged_parts(upload)), {.digest = "p8:11"}));
    EXPECT_EQ(must(store->head(folder_ + "k.deb")).digest, "p8:11") << backend;
  }
}

TEST_F(Clouds, ACommitThatMayOnlyCreateReplacesNothing) {
  for (auto [backend, settings] : {std::pair{"obj_cloud2", azure_settings()},
                                   {"obj_cloud3", gcs_settings()},
                                   {"obj_cloud4", oci_settings()}}) {
    auto store = open(backend, settings);
    must(store->put(folder_ + "k.deb", "old", {}));
    auto upload = must(store->begin(folder_ + "k.deb", 3));
    must(store->put_part(upload, 1, "new", true));
    auto parts = must(store->staged_parts(upload));
    EXPECT_EQ(store->commit(upload, parts, {.digest = "", .only_if_absent = true}).error().code,
              Code::conflict)
        << backend;
    std::string out(3, '\0');
    must(store->read(folder_ + "k.deb", 0, "", out));
    EXPECT_EQ(out, "old") << backend;
    must(store->abort(upload));
  }
}

TEST_F(Clouds, OciSweepsUploadsThatNobodyFinished) {
  auto store = open("obj_cloud4", oci_settings());
  auto upload = must(store->begin(folder_ + "k.deb", 3));
  EXPECT_EQ(must(sweep_store(*store, folder_, an_hour_ago())), 0u);
  EXPECT_EQ(must(sweep_store(*store, folder_, in_an_hour())), 1u);
  EXPECT_EQ(store->staged_parts(upload).error().code, Code::not_found);
}

TEST_F(Clouds, AzureSweepsBlocksThatNobodyCommittedAndNoFinishedBlob) {
  auto store = open("obj_cloud2", azure_settings());
  auto upload = must(store->begin(folder_ + "left.deb", 3));
  must(store->put_part(upload, 1, "abc", true));
  must(store->put(folder_ + "empty.yml", "", {}));
  must(store->put(folder_ + "there.yml", "x", {}));
  auto over = must(store->begin(folder_ + "there.yml", 3));
  must(store->put_part(over, 1, "new", true));
  EXPECT_EQ(must(sweep_store(*store, folder_, an_hour_ago())), 0u);
  auto found = must(store->leftovers(folder_, in_an_hour()));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].key, folder_ + "left.deb");
  EXPECT_EQ(found[0].bytes, 3u);
  EXPECT_GT(found[0].began, an_hour_ago());
  EXPECT_EQ(must(sweep_store(*store, folder_, in_an_hour())), 1u);
  EXPECT_TRUE(must(store->staged_parts(upload)).empty());
  EXPECT_EQ(must(store->list(folder_, "")).objects.size(), 2u);
  EXPECT_EQ(must(store->staged_parts(over)).size(), 1u);
}

TEST_F(Clouds, AzureKeepsBlocksThatWereWrittenSinceTheyWereListed) {
  auto store = open("obj_cloud2", azure_settings());
  auto old = must(store->begin(folder_ + "k.deb", 3));
  must(store->put_part(old, 1, "abc", true));
  auto found = must(store->leftovers(folder_, in_an_hour()));
  ASSERT_EQ(found.size(), 1u);
  auto now = must(store->begin(folder_ + "k.deb", 4));
  must(store->put_part(now, 1, "live", true));
  EXPECT_EQ(store->drop(found[0]).error().code, Code::conflict);
  must(store->commit(now, must(store->staged_parts(now)), {}));
}

TEST_F(Clouds, OciTellsAFingerprintOfAnotherKeyBeforeItAsks) {
  auto settings = oci_settings();
  settings["cloud4_fingerprint"] = "00" + settings["cloud4_fingerprint"].substr(2);
  auto store = open_bare_store(*must(find_backend("obj_cloud4")), settings, deps());
  EXPECT_EQ(store.error().code, Code::invalid);
}

}  // namespace
}  // namespace dash::storage
