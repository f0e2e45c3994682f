#include "core/storage/assets/sweep.hpp"

#include <gtest/gtest.h>

#include "core/storage/store/part_layout.hpp"
#include "tests/support/storage_instance.hpp"

namespace dash::storage {
namespace {

TEST(Sweep, DropsWhatWasNeverCommittedAndTellsTheAudit) {
  StorageFixture world;
  Replica one(world);
  auto handle = must(one.uploads.begin(world.ann, "left.rpm", 3)).handle;
  must(world.store().begin("another-prefix/not-ours.rpm", 3));
  auto swept = must(one.storage.sweep(world.admin, "", kDefaultSweepAge));
  EXPECT_EQ(dump_json(to_json(swept)), R"({"ok":true,"backend":"obj_cloud1","swept":1})");
  EXPECT_EQ(world.store().open_uploads(), 1u);
  EXPECT_EQ(one.uploads.put_part(world.ann, handle, 1, "abc", "").error().code, Code::invalid);
  EXPECT_EQ(world.audited("storage.gc"), std::vector<std::string>{R"({"older_than_hours":24,"swept":1})"});
}

TEST(Sweep, IsForAdminsAndForABackendThatIsThere) {
  StorageFixture world;
  Replica one(world);
  auto code = [&](const Principal& principal, std::string_view backend, int hours) {
    return one.storage.sweep(principal, backend, std::chrono::hours(hours)).error().code;
  };
  EXPECT_EQ(code(world.ann, "", 24), Code::forbidden);
  for (auto backend : {"ftp", "obj_cloud2"})
    EXPECT_EQ(code(world.admin, backend, 24), Code::invalid) << backend;
  EXPECT_EQ(code(world.admin, "", -1), Code::invalid);
}

}  // namespace
}  // namespace dash::storage
