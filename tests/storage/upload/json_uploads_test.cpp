#include "core/storage/upload/json_uploads.hpp"

#include <gtest/gtest.h>

#include "core/crypto/hash.hpp"
#include "core/storage/store/digest.hpp"
#include "tests/support/storage_instance.hpp"

namespace dash::storage {
namespace {

std::string body_of(std::string_view name, std::string_view content) {
  return fmt::format(R"({{"filename":"{}","content_b64":"{}"}})", name, crypto::to_base64(content));
}
std::string content_first(std::string_view name, std::string_view content) {
  return fmt::format(R"({{"content_b64":"{}","filename":"{}"}})", crypto::to_base64(content), name);
}
std::string digest_of(std::string_view bytes) {
  PartDigests digests;
  for (auto rest = bytes;; rest.remove_prefix(kPartBytes)) {
    digests.add(crypto::sha256(rest.substr(0, kPartBytes)));
    if (rest.size() <= kPartBytes) return digests.finish();
  }
}

class InlineLane : public ::testing::Test {
 protected:
  Result<UploadResult> send(const Principal& principal, std::string_view body) {
    auto upload = TRY(one.storage.open_json_upload(principal));
    for (; !body.empty(); body.remove_prefix(std::min<std::size_t>(body.size(), 100'000)))
      TRY(upload->write(body.substr(0, 100'000)));
    return upload->finish();
  }
  int status_of(const Result<UploadResult>& result) {
    return result ? 201 : info(result.error().code).http_status;
  }
  StorageFixture world;
  Replica one{world};
};

}  // namespace

TEST_F(InlineLane, StoresASmallFileInOneCall) {
  auto done = must(send(world.ann, body_of("site.yml", "- hosts: all\n")));
  EXPECT_EQ(
      dump_json(to_json(done)),
      R"({"ok":true,"filename":"site.yml","size":13,"secret_findings":[],"backend":"obj_cloud1","digest":")" +
          digest_of("- hosts: all\n") + "\"}");
  EXPECT_EQ(world.store().bytes_of("config-mgmt/site.yml"), "- hosts: all\n");
  EXPECT_EQ(world.store().begun, 0);
  EXPECT_EQ(world.audited("storage.upload").size(), 1u);
}

TEST_F(InlineLane, StoresAnEmptyFile) {
  EXPECT_EQ(must(send(world.ann, body_of("empty.sh", ""))).size, 0u);
  EXPECT_EQ(world.store().bytes_of("config-mgmt/empty.sh"), "");
}

TEST_F(InlineLane, PassesALargeFileOnPartByPart) {
  for (std::size_t size : {kPartBytes, kPartBytes + 1, 2 * kPartBytes + 7}) {
    std::string content(size, 'x');
    for (std::size_t i = 0; i < size; i += 4099) content[i] = static_cast<char>(i);
    for (const auto& body : {body_of("big.rpm", content), content_first("big.rpm", content)}) {
      auto expected = size > 2 * kPartBytes && body.starts_with(R"({"content)") ? 400 : 201;
      auto done = send(world.ann, body);
      ASSERT_EQ(status_of(done), expected) << size;
      if (!done) continue;
      EXPECT_EQ(done->digest, digest_of(content));
      EXPECT_TRUE(world.store().bytes_of("config-mgmt/big.rpm") == content);
    }
  }
  EXPECT_LE(world.store().largest_part, kPartBytes);
  EXPECT_EQ(world.store().open_uploads(), 0u);
}

TEST_F(InlineLane, HoldsAtMostTwoBuffers) {
  auto upload = must(one.storage.open_json_upload(world.ann));
  auto body = body_of("big.rpm", std::string(2 * kPartBytes + 9, 'x'));
  must(upload->write(body.substr(0, body.size() - 10)));
  std::vector<Buffer> free;
  while (auto part = one.buffers.try_acquire()) free.push_back(std::move(part));
  EXPECT_GE(free.size(), 2u);  // of four
}

TEST_F(InlineLane, RefusesNamesBeforeAByteIsStored) {
  for (auto name : {"a.txt", "../a.yml", "d/a.yml", ".a.yml", ""})
    EXPECT_EQ(status_of(send(world.ann, body_of(name, "x"))), 400) << name;
  must(one.scopes.set(world.admin, "obj_cloud1", "web.yml", "web"));
  EXPECT_EQ(status_of(send(world.bob, body_of("web.yml", "x"))), 409);
  EXPECT_EQ(status_of(send(world.bob, content_first("web.yml", "x"))), 409);
  EXPECT_EQ(status_of(send(world.ann, body_of("web.yml", "x"))), 201);
  EXPECT_EQ(must(one.scopes.get("obj_cloud1", "web.yml")), AssetScope("web"));
}

TEST_F(InlineLane, RefusesTheNameWithoutWaitingForTheContent) {
  auto upload = must(one.storage.open_json_upload(world.ann));
  EXPECT_FALSE(upload->write(R"({"filename":"a.txt",)"));
}

TEST_F(InlineLane, LeavesNothingBehindWhenItBreaksOff) {
  {
    auto upload = must(one.storage.open_json_upload(world.ann));
    auto body = body_of("big.rpm", std::string(2 * kPartBytes, 'x'));
    must(upload->write(body.substr(0, body.size() - 10)));
    EXPECT_EQ(world.store().open_uploads(), 1u);
  }
  EXPECT_EQ(world.store().open_uploads(), 0u);
  EXPECT_FALSE(world.store().has("config-mgmt/big.rpm"));
  EXPECT_EQ(status_of(send(world.ann, body_of("big.rpm", std::string(kPartBytes + 5, 'x')) + "}")), 422);
  EXPECT_FALSE(world.store().has("config-mgmt/big.rpm"));
}

TEST_F(InlineLane, AnswersWhatTheSecretScanFound) {
  auto done = must(send(world.ann, body_of("s.sh", "password: hunter2hunter2")));
  ASSERT_EQ(done.findings.size(), 1u);
  EXPECT_EQ(to_json(done)["secret_findings"][0]["match"], "hun…r2");
}

TEST_F(InlineLane, NeedsAnActiveBackend) {
  world.set("storage_obj_cloud1_bucket", "");
  EXPECT_EQ(status_of(send(world.ann, body_of("a.sh", "x"))), 502);
}

}  // namespace dash::storage
