#include "core/images/images.hpp"

#include <gtest/gtest.h>

#include "core/storage/store/part_layout.hpp"
#include "tests/support/storage_instance.hpp"

namespace dash::images {
namespace {

using storage::part_length;

// One process with images.
struct ImageReplica {
  explicit ImageReplica(storage::StorageFixture& world)
      : at(world),
        images({at.storage.stores(), *world.sql, at.audit, world.clock}, Secret(std::string(32, 'i'))) {}
  storage::Replica at;
  Images images;
};

std::string vhd(std::size_t size) {
  std::string bytes(size, 'x');
  return bytes.replace(size - 512, 8, "conectix");
}

class ImageHub : public ::testing::Test {
 protected:
  struct Staged {
    std::string handle;
    Json parts = Json::array();
  };
  Staged stage(const std::string& name, const std::string& bytes) {
    auto& uploads = one.images.uploads();
    Staged out{must(uploads.begin(world.admin, name, static_cast<std::int64_t>(bytes.size()))).handle};
    for (std::uint32_t n = 1; n <= storage::part_count(bytes.size()); ++n) {
      auto part = bytes.substr(storage::part_offset(n), part_length(bytes.size(), n));
      out.parts.push_back(
          {{"part", n}, {"ref", must(uploads.put_part(world.admin, out.handle, n, part, "")).ref}});
    }
    return out;
  }
  Code commit(ImageReplica& by, const Staged& staged) { return commit(by, staged.handle, staged.parts); }
  Code commit(ImageReplica& by, const std::string& handle, const Json& parts) {
    auto done = by.images.uploads().commit(world.admin, handle, parts);
    return done ? Code::partial : done.error().code;  // `partial` is never commit's
  }
  static constexpr Code kDone = Code::partial;

  storage::StorageFixture world;
  ImageReplica one{world}, two{world};
};

TEST_F(ImageHub, ListsAnImageAfterItsCommitAndNotAfterItsDeletion) {
  auto bytes = vhd(kPartBytes + 1024);
  auto staged = stage("box.vhd", bytes);
  EXPECT_TRUE(must(one.images.list(world.admin)).items.empty());
  EXPECT_EQ(commit(two, staged), kDone);  // of another replica
  EXPECT_EQ(world.store().bytes_of("images/box.vhd"), bytes);
  auto list = must(one.images.list(world.admin));
  ASSERT_EQ(list.items.size(), 1u);
  EXPECT_EQ(list.items[0].format, "vhd");
  EXPECT_EQ(list.items[0].size, bytes.size());
  EXPECT_TRUE(list.items[0].digest.starts_with("p8:"));
  EXPECT_EQ(commit(one, staged), kDone);  // again, after a lost response
  must(one.images.remove(world.admin, "box.vhd"));
  EXPECT_TRUE(must(one.images.list(world.admin)).items.empty());
  EXPECT_EQ(one.images.remove(world.admin, "box.vhd").error().code, Code::not_found);
  EXPECT_EQ(one.images.remove(world.admin, "../config-mgmt/a.yml").error().code, Code::not_found);
  EXPECT_EQ(world.audited("image.upload").size(), 1u);
  EXPECT_EQ(world.audited("image.delete").size(), 1u);
}

TEST_F(ImageHub, RefusesWhatIsNotWhatItsNameSays) {
  EXPECT_EQ(commit(two, stage("a.vhd", std::string(kPartBytes + 512, '\0'))), Code::invalid);
  EXPECT_EQ(commit(two, stage("a.raw", vhd(kPartBytes + 512))), Code::invalid);
  EXPECT_EQ(commit(two, stage("a.qcow2", vhd(512))), Code::invalid);
  EXPECT_FALSE(world.store().has("images/a.vhd") || world.store().has("images/a.raw"));
}

TEST_F(ImageHub, CommitsByTheRefOfEveryPartAlone) {
  auto staged = stage("a.vhd", vhd(kPartBytes + 512));
  auto other = stage("a.vhd", vhd(kPartBytes + 512));
  EXPECT_EQ(commit(one, staged.handle, 2u), Code::invalid);
  EXPECT_EQ(commit(one, staged.handle, {1u, 2u}), Code::invalid);
  EXPECT_EQ(commit(one, staged.handle, {staged.parts[0], {{"part", 2u}}}), Code::invalid);
  EXPECT_EQ(commit(one, staged.handle, {staged.parts[0], other.parts[1]}), Code::invalid);
  EXPECT_EQ(commit(one, staged), kDone);
}

TEST_F(ImageHub, IsForAdministratorsAndNeedsAnObjectStore) {
  EXPECT_EQ(one.images.list(world.ann).error().code, Code::forbidden);
  EXPECT_EQ(one.images.remove(world.ann, "a.raw").error().code, Code::forbidden);
  EXPECT_EQ(one.images.uploads().begin(world.ann, "a.raw", 512).error().code, Code::forbidden);
  world.set("storage_local_path", "/srv/assets");
  world.set("storage_active_backend", "local");
  EXPECT_EQ(one.images.list(world.admin).error().code, Code::invalid);
  world.set("storage_hub_backend", "obj_cloud1");
  EXPECT_EQ(must(one.images.list(world.admin)).hub, "obj_cloud1");
}

TEST_F(ImageHub, HonoursAHandleOnlyOfItsUserAndInItsTime) {
  auto staged = stage("a.raw", std::string(512, '\0'));
  auto other = storage::make_principal("second", {}, true);
  auto& uploads = one.images.uploads();
  EXPECT_EQ(uploads.commit(other, staged.handle, staged.parts).error().code, Code::invalid);
  EXPECT_EQ(uploads.put_part(other, staged.handle, 1, std::string(512, 'y'), "").error().code, Code::invalid);
  EXPECT_FALSE(uploads.commit(world.ann, staged.handle, staged.parts));
  world.clock.advance(std::chrono::hours(13));
  EXPECT_EQ(commit(one, staged), Code::invalid);
  EXPECT_FALSE(world.store().has("images/a.raw"));
}

TEST_F(ImageHub, CommitsOneUploadOnceWhoeverAsksLast) {
  auto first = stage("a.raw", std::string(512, 'a')), second = stage("a.raw", std::string(512, 'b'));
  EXPECT_EQ(commit(one, first), kDone);
  EXPECT_EQ(commit(two, second), kDone);
  auto again = commit(one, first);  // its object is not there any more
  EXPECT_NE(again, Code::internal);
  EXPECT_EQ(world.store().bytes_of("images/a.raw"), std::string(512, 'b'));
  must(one.images.uploads().abort(world.admin, second.handle));
  EXPECT_TRUE(world.store().has("images/a.raw"));
}

TEST_F(ImageHub, EndsAnUploadWhenTheHubChanges) {
  auto staged = stage("a.raw", std::string(512, '\0'));
  world.set("storage_obj_cloud3_bucket", "c");
  world.set("storage_hub_backend", "obj_cloud3");
  EXPECT_EQ(commit(one, staged), Code::invalid);
}

}  // namespace
}  // namespace dash::images
