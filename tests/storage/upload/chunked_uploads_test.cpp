#include "core/storage/upload/chunked_uploads.hpp"

#include <gtest/gtest.h>

#include "core/crypto/hash.hpp"
#include "core/storage/store/digest.hpp"
#include "core/storage/store/part_layout.hpp"
#include "tests/support/storage_instance.hpp"

namespace dash::storage {
namespace {

// Three parts, the last of 100 bytes.
constexpr std::int64_t kSize = 2 * static_cast<std::int64_t>(kPartBytes) + 100;

std::string part_bytes(std::uint32_t n) {
  return std::string(part_length(static_cast<std::uint64_t>(kSize), n), static_cast<char>('a' + n));
}

template <class T>
std::string refusal(const Result<T>& result) {
  return result ? "ok" : fmt::format("{} {}", info(result.error().code).http_status, result.error().message);
}
template <class T>
int status_of(const Result<T>& result) {
  return result ? 200 : info(result.error().code).http_status;
}

class UploadLane : public ::testing::Test {
 protected:
  std::string begin(Replica& at, const std::string& name = "big.rpm") {
    return must(at.uploads.begin(world.ann, name, kSize)).handle;
  }
  Result<PutPartResult> put(Replica& at, const std::string& handle, std::uint32_t n) {
    return at.uploads.put_part(world.ann, handle, n, part_bytes(n), "");
  }
  StorageFixture world;
  Replica one{world}, two{world};
  const Json all = 3u;
};

}  // namespace

TEST_F(UploadLane, StagesInOrderAndListsNothingBeforeCommit) {
  auto begun = must(one.uploads.begin(world.ann, "big.rpm", kSize));
  EXPECT_EQ(begun.backend, "obj_cloud1");
  EXPECT_EQ(to_json(begun)["part_bytes"], 8388608);
  EXPECT_EQ(to_json(begun)["parts"], 3);
  for (std::uint32_t n : {1u, 2u, 3u}) EXPECT_EQ(must(put(one, begun.handle, n)).bytes, part_bytes(n).size());
  EXPECT_FALSE(world.store().has("config-mgmt/big.rpm"));
  auto done = must(one.uploads.commit(world.ann, begun.handle, all));
  EXPECT_EQ(done.size, static_cast<std::uint64_t>(kSize));
  EXPECT_EQ(world.store().bytes_of("config-mgmt/big.rpm"), part_bytes(1) + part_bytes(2) + part_bytes(3));
  EXPECT_EQ(world.store().staged_calls, 1);  // commit's own
  EXPECT_EQ(world.audited("storage.upload").size(), 1u);
}

TEST_F(UploadLane, ComposesTheDigestFromTheRefsThatItGave) {
  auto handle = begin(one);
  Json list = Json::array();
  PartDigests expected;
  for (std::uint32_t n : {1u, 2u, 3u}) {
    list.insert(list.begin(), Json{{"part", n}, {"ref", must(put(one, handle, n)).ref}});  // any order
    expected.add(crypto::sha256(part_bytes(n)));
  }
  auto done = must(one.uploads.commit(world.ann, handle, list));
  EXPECT_EQ(done.digest, expected.finish());
  EXPECT_EQ(must(world.store().head("config-mgmt/big.rpm")).digest, done.digest);
}

TEST_F(UploadLane, RefusesAtBeginWhatTheTableSays) {
  auto begin_code = [&](const std::string& name, std::int64_t size) {
    return status_of(one.uploads.begin(world.ann, name, size));
  };
  EXPECT_EQ(begin_code("a.txt", 1), 400);
  EXPECT_EQ(begin_code("../a.rpm", 1), 400);
  EXPECT_EQ(begin_code("a.rpm", 0), 400);
  EXPECT_EQ(begin_code("a.rpm", -1), 400);
  EXPECT_EQ(begin_code("a.rpm", 5368709120), 200);
  EXPECT_EQ(begin_code("a.rpm", 5368709121), 413);
  world.set("storage_local_path", "/srv");
  world.set("storage_active_backend", "local");
  EXPECT_EQ(begin_code("a.rpm", 1), 400);
  EXPECT_EQ(world.store().begun, 1);
}

TEST_F(UploadLane, RefusesAGapAWrongLengthAndAWrongNumberAndStagesNothing) {
  auto handle = begin(one);
  EXPECT_EQ(status_of(put(one, handle, 2)), 400);
  EXPECT_EQ(status_of(one.uploads.put_part(world.ann, handle, 1, "short", "")), 400);
  EXPECT_EQ(status_of(one.uploads.put_part(world.ann, handle, 0, "", "")), 400);
  EXPECT_EQ(status_of(one.uploads.put_part(world.ann, handle, 4, "", "")), 400);
  EXPECT_EQ(world.store().part_calls, 0);
  must(put(one, handle, 1));
  must(put(one, handle, 1));  // the last one again
  must(put(one, handle, 2));
  EXPECT_NE(refusal(put(one, handle, 1)).find("the next part is 3"), std::string::npos);
  EXPECT_EQ(world.store().part_calls, 3);
}

TEST_F(UploadLane, JudgesAPartByItsHeadAlone) {
  auto handle = begin(one);
  EXPECT_EQ(status_of(one.uploads.open_part(world.ann, handle, 1, kPartBytes)), 200);
  EXPECT_EQ(status_of(one.uploads.open_part(world.ann, handle, 1, kPartBytes - 1)), 400);
  EXPECT_EQ(status_of(one.uploads.open_part(world.ann, handle, 9, 1)), 400);
  EXPECT_EQ(status_of(one.uploads.open_part(world.bob, handle, 1, kPartBytes)), 400);
  EXPECT_EQ(status_of(one.uploads.open_part(world.ann, "forged", 1, kPartBytes)), 400);
  EXPECT_NE(refusal(one.uploads.open_part(world.ann, "", 1, 1)).find("X-Upload-Handle"), std::string::npos);
}

TEST_F(UploadLane, RemembersAnAbortedHandleThroughAClockThatWasAYearAhead) {
  auto handle = begin(one);
  must(put(one, handle, 1));
  world.store().fail_abort = true;  // as on a store that keeps the parts
  must(one.uploads.abort(world.ann, handle));
  world.store().fail_abort = false;
  world.clock.advance(std::chrono::hours(24 * 365));
  auto later = begin(one, "later.rpm");
  must(one.uploads.abort(world.ann, later));  // drops what has expired by its clock
  world.clock.advance(-std::chrono::hours(24 * 365));
  EXPECT_NE(refusal(put(one, handle, 2)).find("was aborted"), std::string::npos);
  EXPECT_EQ(status_of(two.uploads.commit(world.ann, handle, all)), 400);
  EXPECT_EQ(status_of(put(one, later, 1)), 400) << "issued a year ahead of now";
}

TEST_F(UploadLane, RemembersACommittedHandleThroughAClockThatWasAYearAhead) {
  auto handle = begin(one);
  for (std::uint32_t n : {1u, 2u, 3u}) must(put(one, handle, n));
  must(one.uploads.commit(world.ann, handle, all));
  world.clock.advance(std::chrono::hours(24 * 365));
  must(one.uploads.abort(world.ann, begin(one, "later.rpm")));
  world.clock.advance(-std::chrono::hours(24 * 365));
  EXPECT_EQ(status_of(one.uploads.commit(world.ann, handle, all)), 200) << "the same answer again";
  EXPECT_EQ(must(one.uploads.abort(world.ann, handle)).aborted, false);
}

TEST_F(UploadLane, ScansForSecretsOnlyWhileTheSettingSaysSo) {
  auto text = "password: correct-horse-battery\n" + std::string(kPartBytes - 32, 'x');
  auto findings = [&]() {
    auto handle = must(one.uploads.begin(world.ann, "site.yml", kSize)).handle;
    return must(one.uploads.put_part(world.ann, handle, 1, text, "")).findings.size();
  };
  EXPECT_EQ(findings(), 1u);
  for (auto off : {"0", "false", "off"}) {
    world.set("secret_scan_enabled", off);
    EXPECT_EQ(findings(), 0u) << off;
  }
  for (auto on : {"1", "true", "nonsense", ""}) {
    world.set("secret_scan_enabled", on);
    EXPECT_EQ(findings(), 1u) << on;
  }
}

TEST_F(UploadLane, IsSharedByTwoReplicasPartByPart) {
  auto handle = begin(one);
  must(put(one, handle, 1));
  must(put(two, handle, 2));
  must(put(one, handle, 3));  // one has recorded only the first: it queries the store
  must(two.uploads.commit(world.ann, handle, all));
  EXPECT_EQ(world.store().bytes_of("config-mgmt/big.rpm").size(), static_cast<std::size_t>(kSize));
}

TEST_F(UploadLane, ChecksContentDigestWhenSent) {
  auto handle = begin(one);
  auto good = "sha-512=:eA==:, sha-256=:" + crypto::to_base64(crypto::sha256(part_bytes(1))) + ":";
  auto bad = "sha-256=:" + crypto::to_base64(crypto::sha256("other")) + ":";
  EXPECT_EQ(status_of(one.uploads.put_part(world.ann, handle, 1, part_bytes(1), bad)), 400);
  EXPECT_EQ(status_of(one.uploads.put_part(world.ann, handle, 1, part_bytes(1), "sha-256=abc")), 400);
  EXPECT_EQ(world.store().part_calls, 0);
  EXPECT_EQ(status_of(one.uploads.put_part(world.ann, handle, 1, part_bytes(1), good)), 200);
}

TEST_F(UploadLane, CommitsOnlyWhenEveryPartIsNamedOnceAndStaged) {
  auto handle = begin(one);
  must(put(one, handle, 1));
  auto ref = must(put(one, handle, 2)).ref;
  EXPECT_NE(refusal(one.uploads.commit(world.ann, handle, all)).find("part 3 is missing in the store"),
            std::string::npos);
  must(put(one, handle, 3));
  for (auto list : {Json(2u), Json({1u, 2u}), Json({1u, 2u, 2u}), Json({1u, 2u, 3u, 4u}), Json::array(),
                    Json({1u, 2u, 4u}), Json::array({1u, 3u, {{"part", 2u}, {"ref", "made up"}}}),
                    Json::array({1u, 2u, {{"part", 3u}, {"ref", ref}}})})
    EXPECT_EQ(status_of(one.uploads.commit(world.ann, handle, list)), 400) << list.dump();
  EXPECT_EQ(status_of(one.uploads.commit(world.ann, handle, "x")), 422);
  EXPECT_NE(refusal(one.uploads.commit(world.ann, handle, Json({1u, 3u}))).find("part 2 is missing"),
            std::string::npos);
  EXPECT_FALSE(world.store().has("config-mgmt/big.rpm"));
  EXPECT_EQ(status_of(one.uploads.commit(world.ann, handle, Json({3u, 2u, 1u}))), 200);
}

TEST_F(UploadLane, AnswersACommitAgainWhoseAnswerWasLost) {
  auto handle = begin(one);
  for (std::uint32_t n : {1u, 2u, 3u}) must(put(one, handle, n));
  must(one.uploads.commit(world.ann, handle, all));
  EXPECT_EQ(must(two.uploads.commit(world.ann, handle, all)).size, static_cast<std::uint64_t>(kSize));
  EXPECT_EQ(world.audited("storage.upload").size(), 1u);
  EXPECT_EQ(status_of(put(one, handle, 3)), 400);
  EXPECT_FALSE(must(one.uploads.abort(world.ann, handle)).aborted);
}

TEST_F(UploadLane, CommitsAgainWhatAProcessCommittedInTheStoreAndDidNotRecord) {
  auto handle = begin(one);
  Json list = Json::array();
  std::vector<StagedPart> parts;
  for (std::uint32_t n : {1u, 2u, 3u}) list.push_back({{"part", n}, {"ref", must(put(one, handle, n)).ref}});
  parts = must(world.store().staged_parts("upload-1"));
  must(world.store().commit("upload-1", parts, {}));
  EXPECT_EQ(status_of(two.uploads.commit(world.ann, handle, all)),
            400);  // nothing identifies the owner of the object
  auto done = must(two.uploads.commit(world.ann, handle, list));
  EXPECT_NE(done.digest, "");
  EXPECT_EQ(world.audited("storage.upload").size(), 1u);
}

TEST_F(UploadLane, NeverRevivesAnAbortedUpload) {
  auto handle = begin(one);
  must(put(one, handle, 1));
  world.store().fail_abort = true;
  auto aborted = must(one.uploads.abort(world.ann, handle));
  EXPECT_FALSE(aborted.aborted);
  EXPECT_FALSE(aborted.reason.empty());
  for (Replica* at : {&one, &two}) {
    EXPECT_EQ(status_of(put(*at, handle, 2)), 400);
    EXPECT_EQ(status_of(at->uploads.commit(world.ann, handle, all)), 400);
    EXPECT_EQ(status_of(at->uploads.status(world.ann, handle)), 400);
  }
}

TEST_F(UploadLane, AbortAnswersWhateverTheHandle) {
  EXPECT_FALSE(must(one.uploads.abort(world.ann, "rubbish")).aborted);
  auto handle = begin(one);
  EXPECT_FALSE(must(one.uploads.abort(world.bob, handle)).aborted);
  EXPECT_EQ(world.store().open_uploads(), 1u);
  EXPECT_TRUE(must(one.uploads.abort(world.ann, handle)).aborted);
  EXPECT_TRUE(must(one.uploads.abort(world.ann, handle)).aborted);
  EXPECT_EQ(world.store().open_uploads(), 0u);
}

TEST_F(UploadLane, TellsWhichPartsAreStagedForResume) {
  auto handle = begin(one);
  must(put(one, handle, 1));
  must(put(one, handle, 2));
  auto status = must(two.uploads.status(world.ann, handle));
  EXPECT_EQ(status.staged, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(to_json(status)["expires_at"], "2026-07-04T02:00:00Z");
  EXPECT_EQ(status_of(two.uploads.status(world.bob, handle)), 400);
}

TEST_F(UploadLane, GoesOnAfterAPartFailedInTheStore) {
  auto handle = begin(one);
  must(put(one, handle, 1));
  world.store().fail_next_part = true;
  EXPECT_EQ(status_of(put(one, handle, 2)), 502);
  EXPECT_EQ(status_of(put(one, handle, 3)), 400);
  must(put(one, handle, 2));
  must(put(one, handle, 3));
  EXPECT_EQ(status_of(one.uploads.commit(world.ann, handle, all)), 200);
}

TEST_F(UploadLane, AsksScopeAtBeginAndAgainAtCommit) {
  must(one.scopes.set(world.admin, "obj_cloud1", "web.rpm", "web"));
  EXPECT_EQ(status_of(one.uploads.begin(world.bob, "web.rpm", kSize)), 409);
  auto handle = begin(one, "late.rpm");
  for (std::uint32_t n : {1u, 2u, 3u}) must(put(one, handle, n));
  must(one.scopes.set(world.admin, "obj_cloud1", "late.rpm", "data"));
  EXPECT_EQ(status_of(one.uploads.commit(world.ann, handle, all)), 409);
  EXPECT_FALSE(world.store().has("config-mgmt/late.rpm"));
}

TEST_F(UploadLane, RefusesToGoOnWhenTheActiveBackendMoved) {
  auto handle = begin(one);
  must(put(one, handle, 1));
  world.set("storage_obj_cloud3_bucket", "c");
  world.set("storage_active_backend", "obj_cloud3");
  EXPECT_EQ(status_of(put(one, handle, 2)), 400);
  EXPECT_EQ(status_of(one.uploads.commit(world.ann, handle, all)), 400);
  world.set("storage_active_backend", "obj_cloud1");
  EXPECT_EQ(status_of(put(one, handle, 2)), 200);
}

TEST_F(UploadLane, ScansTheFirstPartOnly) {
  auto text = [](std::size_t size) {
    std::string bytes = "password: hunter2hunter2\n";
    bytes.resize(size, '\n');
    return bytes;
  };
  auto handle = must(one.uploads.begin(world.ann, "site.yml", kSize)).handle;
  auto first = must(one.uploads.put_part(world.ann, handle, 1, text(kPartBytes), ""));
  ASSERT_EQ(first.findings.size(), 1u);
  EXPECT_EQ(to_json(first)["secret_findings"][0]["match"], "hun…r2");
  EXPECT_TRUE(must(one.uploads.put_part(world.ann, handle, 2, text(kPartBytes), "")).findings.empty());
}

}  // namespace dash::storage
