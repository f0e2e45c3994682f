#include "core/storage/settings/state_place.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/file.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/must.hpp"
#include "tests/support/scratch.hpp"

namespace dash::storage {
namespace {

constexpr std::string_view kInfo =
    R"({"ID":"l-1","Operation":"OperationTypeApply","Who":"ann@host","Created":"2026-11-22T16:00:00.123456789Z"})";

class StatePlaceTest : public ::testing::Test {
 protected:
  StatePlace place(std::string_view backend) {
    OpenStore open = [this](const Backend&, const config::Values&) -> Result<std::shared_ptr<ObjectStore>> {
      return std::shared_ptr<ObjectStore>(store);
    };
    return must(StatePlace::open(open, {must(find_backend(backend)), &values}, scratch / "deploy"));
  }
  config::Values values;
  Scratch scratch;
  std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>();
};

TEST_F(StatePlaceTest, FindsTheLockObjectOfEachStore) {
  struct Row {
    std::string_view backend, state, lock;
  };
  for (auto row :
       {Row{"obj_cloud1", "iac-state/a/terraform.tfstate", "iac-state/a/terraform.tfstate.tflock"},
        Row{"obj_cloud3", "iac-state/b/default.tfstate", "iac-state/b/default.tflock"},
        Row{"obj_cloud4", "iac-state/c/terraform.tfstate", "iac-state/c/terraform.tfstate.lock"}}) {
    auto at = place(row.backend);
    EXPECT_FALSE(must(at.find_lock(std::string(row.state)))) << row.backend;
    must(store->put(std::string(row.lock), kInfo, {}));
    auto lock = must(at.find_lock(std::string(row.state)));
    ASSERT_TRUE(lock) << row.backend;
    EXPECT_EQ(lock->id, "l-1");
    EXPECT_EQ(lock->who, "ann@host");
    EXPECT_EQ(lock->operation, "OperationTypeApply");
    EXPECT_EQ(format_iso(lock->since.value()), "2026-11-22T16:00:00Z");
    must(at.release_lock(std::string(row.state), *lock));
    EXPECT_FALSE(store->has(std::string(row.lock)));
  }
}

TEST_F(StatePlaceTest, ListsStatesAndALockWithoutOneAndNoLockAsState) {
  must(store->put("iac-state/a/terraform.tfstate", "{}", {}));
  must(store->put("iac-state/a/terraform.tfstate.tflock", kInfo, {}));
  must(store->put("iac-state/a/outputs.json", "{}", {}));
  must(store->put("iac-state/first/terraform.tfstate.tflock", kInfo, {}));
  must(store->put("terraform-state/old/terraform.tfstate", "{}", {}));
  auto found = must(place("obj_cloud1").list());
  ASSERT_EQ(found.states.size(), 3u);
  EXPECT_EQ(found.states[0].job, "a");
  EXPECT_EQ(found.states[1].job, "first");
  EXPECT_FALSE(found.states[1].exists);
  EXPECT_EQ(found.states[2].job, "old");
  ASSERT_EQ(found.others.size(), 1u);
  EXPECT_EQ(found.others[0].key, "iac-state/a/outputs.json");
}

TEST_F(StatePlaceTest, TakesALockInfoFileForALock) {
  auto folder = scratch / "deploy/j1";
  std::filesystem::create_directories(folder);
  must(write_file(folder + "/.terraform.tfstate.lock.info", kInfo, 0600));
  auto at = place("local");
  auto found = must(at.list());
  ASSERT_EQ(found.states.size(), 1u);
  EXPECT_EQ(found.states[0].object.key, "j1/terraform.tfstate");
  auto lock = must(at.find_lock("j1/terraform.tfstate"));
  ASSERT_TRUE(lock);
  EXPECT_EQ(lock->id, "l-1");
  must(at.release_lock("j1/terraform.tfstate", *lock));
  EXPECT_FALSE(must(at.find_lock("j1/terraform.tfstate")));
}

TEST_F(StatePlaceTest, GivesALockWithoutJsonAnId) {
  must(store->put("iac-state/a/terraform.tfstate.tflock", "garbage", {}));
  auto lock = must(place("obj_cloud1").find_lock("iac-state/a/terraform.tfstate"));
  ASSERT_TRUE(lock);
  EXPECT_EQ(lock->id, must(store->head("iac-state/a/terraform.tfstate.tflock")).etag);
}

}  // namespace
}  // namespace dash::storage
