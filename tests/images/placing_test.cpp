#include "core/images/placing.hpp"

#include <gtest/gtest.h>

#include "tests/support/storage_instance.hpp"

namespace dash::images {
namespace {

std::string raw_image(std::size_t sectors) { return std::string(sectors * 512, 'x'); }

class PlacingTest : public ::testing::Test {
 protected:
  PlacingTest() {
    world.set("storage_obj_cloud3_bucket", "c");
    must(builds.put("exports/a.raw", raw_image(2), {}));
  }
  Result<OrderedJson> run(const std::string& name = "a.raw", const std::string& key = "exports/a.raw",
                          const std::string& backend = "gcs") {
    return one.image_jobs.run(local_operator(), PlaceRequest{name, backend, key}, {}, {});
  }
  Code code(const std::string& name, const std::string& key, const std::string& backend = "gcs") {
    auto checked = placing.check(world.admin, {name, backend, key});
    return checked ? Code::partial : checked.error().code;  // `partial` is never check's
  }
  storage::StorageFixture world;
  storage::Replica one{world};
  storage::MemoryStore& builds = *world.stores.at("obj_cloud3");
  Placing placing{{one.storage.stores(), one.directory, *world.sql, one.audit, world.clock, one.buffers}};
};

TEST_F(PlacingTest, MovesTheImageToTheHub) {
  auto result = must(run());
  EXPECT_EQ(world.store().bytes_of("images/a.raw"), raw_image(2));
  EXPECT_FALSE(builds.has("exports/a.raw"));
  EXPECT_EQ(result["source_deleted"], true);
  EXPECT_TRUE(result["source_kept"].is_null());
  EXPECT_EQ(world.audited("image.place").size() + world.audited("image.source_delete").size(), 2u);
}

TEST_F(PlacingTest, NeverTakesWhatTheDashboardKeeps) {
  for (auto key : {"iac-state/j/x.raw", "terraform-state/x.raw", ".dashctl-uploads/x.raw",
                   "dashctl-audit/x.raw", "config-mgmt/a.yml"}) {
    must(builds.put(key, raw_image(1), {}));
    EXPECT_EQ(code("x.raw", key), Code::invalid) << key;
  }
  must(builds.put("config-mgmt/a.raw", raw_image(1), {}));  // no asset
  EXPECT_EQ(code("x.raw", "config-mgmt/a.raw"), Code::partial);
}

TEST_F(PlacingTest, RefusesBeforeAnyJobExists) {
  EXPECT_EQ(code("a.raw", "exports/none"), Code::not_found);
  EXPECT_EQ(code("a.vhd", "exports/a.raw"), Code::invalid);
  EXPECT_EQ(code("a.raw", "../a.raw"), Code::invalid);
  EXPECT_EQ(code("a.raw", "exports/a.raw", "local"), Code::invalid);
  must(world.store().put("images/a.raw", raw_image(1), {}));
  EXPECT_EQ(code("a.raw", "exports/a.raw"), Code::conflict);
  EXPECT_EQ(placing.check(world.ann, {"b.raw", "gcs", "exports/a.raw"}).error().code, Code::forbidden);
}

TEST_F(PlacingTest, KeepsTheHubsOwnPlace) {
  must(world.store().put("images/a.raw", raw_image(2), {}));
  EXPECT_EQ(must(run("a.raw", "images/a.raw", "s3"))["copied"], false);
  EXPECT_EQ(must(run("b.raw", "images/a.raw", "s3"))["source_deleted"], false);
  EXPECT_TRUE(world.store().has("images/a.raw") && world.store().has("images/b.raw"));
}

TEST_F(PlacingTest, LeavesTheOriginalWhenTheCopyIsNotItsBytes) {
  world.store().torn_keys = {"images/a.raw"};
  EXPECT_EQ(run().error().code, Code::integrity);
  EXPECT_TRUE(builds.has("exports/a.raw"));
  EXPECT_FALSE(world.store().has("images/a.raw"));
}

}  // namespace
}  // namespace dash::images
