#include "core/storage/assets/sweep.hpp"

#include <gtest/gtest.h>

#include "tests/support/storage_instance.hpp"

namespace dash::storage {
namespace {

constexpr std::chrono::hours kDay{24};

TEST(Sweep, ListsWhatWasNeverCommittedAndDropsItWhenAsked) {
  StorageFixture world;
  Replica one(world);
  world.store().upload_began = must(parse_iso("2026-07-01T00:00:00Z"));
  auto handle = must(one.uploads.begin(world.ann, "left.rpm", 3)).handle;
  must(world.store().begin("another-prefix/not-ours.rpm", 3));
  auto image = must(world.store().begin("images/left.vhd", 3));
  must(world.store().put_part(image, 1, "abc", true));
  auto listed = must(one.storage.sweep(world.admin, {"", kDay, false}));
  EXPECT_EQ(dump_json(to_json(listed)),
            R"({"ok":true,"applied":false,"items":[{"backend":"obj_cloud1","key":"config-mgmt/left.rpm",)"
            R"("began_at":"2026-07-01T00:00:00Z","bytes":0},{"backend":"obj_cloud1","key":"images/left.vhd",)"
            R"("began_at":"2026-07-01T00:00:00Z","bytes":3}],"swept":0})");
  EXPECT_EQ(world.store().open_uploads(), 3u);
  EXPECT_TRUE(world.audited("storage.gc").empty());
  auto swept = must(one.storage.sweep(world.admin, {"obj_cloud1", kDay, true}));
  EXPECT_EQ(swept.swept, 2u);
  EXPECT_EQ(swept.items.size(), 2u);
  EXPECT_EQ(world.store().open_uploads(), 1u);
  EXPECT_EQ(one.uploads.put_part(world.ann, handle, 1, "abc", "").error().code, Code::invalid);
  EXPECT_EQ(world.audited("storage.gc"),
            std::vector<std::string>{R"({"bytes":3,"older_than_hours":24,"swept":2})"});
}

TEST(Sweep, SparesWhatIsYoungerAndTellsTheAuditWhatItDroppedBeforeAFailure) {
  StorageFixture world;
  Replica one(world);
  world.store().upload_began = world.clock.now() - std::chrono::hours(23);
  must(world.store().begin("config-mgmt/k.rpm", 3));
  EXPECT_TRUE(must(one.storage.sweep(world.admin, {"", kDay, true})).items.empty());
  EXPECT_EQ(must(one.storage.sweep(world.admin, {"", kMinSweepAge, false})).items.size(), 1u);
  world.store().fail_abort = true;
  EXPECT_EQ(one.storage.sweep(world.admin, {"", kMinSweepAge, true}).error().code, Code::unreachable);
  EXPECT_EQ(world.audited("storage.gc").back(), R"({"bytes":0,"older_than_hours":12,"swept":0})");
}

TEST(Sweep, AsksEveryConfiguredBackendAndNamesTheOneThatFails) {
  StorageFixture world;
  world.set("storage_obj_cloud3_bucket", "b");
  world.unreachable.insert("obj_cloud3");
  Replica one(world);
  must(world.store().begin("config-mgmt/k.rpm", 3));
  auto swept = must(one.storage.sweep(world.admin, {"", kDay, true}));
  EXPECT_EQ(swept.swept, 1u);
  ASSERT_EQ(swept.failed.size(), 1u);
  EXPECT_EQ(swept.failed[0].backend, "obj_cloud3");
  EXPECT_FALSE(to_json(swept).at("ok").get<bool>());
  EXPECT_FALSE(one.storage.sweep(world.admin, {"obj_cloud3", kDay, true}));
}

TEST(Sweep, IsForAdminsForABackendThatIsThereAndForWhatNoHandleNeeds) {
  StorageFixture world;
  Replica one(world);
  auto code = [&](const Principal& principal, std::string backend, int hours) {
    return one.storage.sweep(principal, {std::move(backend), std::chrono::hours(hours), true}).error().code;
  };
  EXPECT_EQ(code(world.ann, "", 24), Code::forbidden);
  for (auto backend : {"ftp", "obj_cloud2"})
    EXPECT_EQ(code(world.admin, backend, 24), Code::invalid) << backend;
  for (int hours : {-1, 0, 11}) EXPECT_EQ(code(world.admin, "", hours), Code::invalid) << hours;
}

}  // namespace
}  // namespace dash::storage
