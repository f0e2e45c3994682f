#include "core/storage/assets/usage.hpp"

#include <gtest/gtest.h>

#include "tests/support/storage_instance.hpp"

namespace dash::storage {
namespace {

TEST(Usage, IsWhatTheBackendHeldAtItsLastSweep) {
  StorageFixture world;
  Replica one(world);
  must(world.store().put("config-mgmt/a.yml", "abc", {}));
  must(world.store().put("elsewhere/a.yml", "abc", {}));
  must(one.storage.sweep(world.admin, {"", kDefaultSweepAge, false}));
  auto usage = must(recorded_usage(*world.sql)).at("obj_cloud1");
  EXPECT_EQ(usage.items, 1);
  EXPECT_EQ(usage.bytes, 3);
  EXPECT_EQ(usage.at, world.clock.now());
  auto shown = must(one.storage.backends(world.admin))["backends"];
  EXPECT_EQ(shown[0]["usage"], to_json(usage));
  EXPECT_EQ(shown[1]["usage"], OrderedJson());
  EXPECT_FALSE(must(one.storage.backends(world.ann))["backends"][0].contains("usage"));
}

}  // namespace
}  // namespace dash::storage
