#include "core/storage/assets/asset_walk.hpp"

#include <gtest/gtest.h>

#include "core/storage/assets/migration.hpp"
#include "tests/support/storage_instance.hpp"

namespace dash::storage {
namespace {

class AssetWalkTest : public ::testing::Test {
 protected:
  AssetWalkTest() { world.set("storage_obj_cloud3_bucket", "c"); }
  MemoryStore& store(const std::string& backend) { return *world.stores.at(backend); }
  void place(const std::string& backend, std::initializer_list<const char*> names) {
    for (std::string name : names) must(store(backend).put("config-mgmt/" + name, "x", {}));
  }
  // Each name after the sides that have it.
  Result<std::vector<std::string>> visited() {
    auto pair = must(open_two_backends(one.storage.stores(), world.admin, "obj_cloud1", "obj_cloud3"));
    std::vector<std::string> out;
    auto restart = [&] {
      out.clear();
      ++restarts;
    };
    TRY(visit_both(one.assets, world.admin, pair, restart,
                   [&](const Asset* source, const Asset* target) -> Result<void> {
                     if (source && target) {
                       EXPECT_EQ(source->name, target->name);
                     }
                     out.push_back(fmt::format("{}{} {}", source ? "<" : "", target ? ">" : "",
                                               (source ? source : target)->name));
                     return {};
                   }));
    return out;
  }
  using Names = std::vector<std::string>;
  StorageFixture world;
  Replica one{world};
  int restarts = 0;
};

TEST_F(AssetWalkTest, PairsNamesOfPagesThatEndAtDifferentOnes) {
  place("obj_cloud1", {"a", "b", "c", "e", "g", "h"});
  place("obj_cloud3", {"b", "c", "d", "f", "h", "i", "j"});
  Names expected{"< a", "<> b", "<> c", "> d", "< e", "> f", "< g", "<> h", "> i", "> j"};
  for (std::size_t size : {1u, 2u, 3u, 7u, 1000u}) {
    store("obj_cloud1").page_size = size;
    store("obj_cloud3").page_size = 3;
    EXPECT_EQ(must(visited()), expected) << size;
  }
  EXPECT_EQ(restarts, 0);
}

TEST_F(AssetWalkTest, VisitsASideThatIsEmpty) {
  EXPECT_EQ(must(visited()), Names{});
  place("obj_cloud3", {"a", "b"});
  EXPECT_EQ(must(visited()), (Names{"> a", "> b"}));
}

TEST_F(AssetWalkTest, BeginsAgainWithWholeListsWhereAStoreHasAnotherOrder) {
  for (const auto* backend : {"obj_cloud1", "obj_cloud3"}) {
    place(backend, {"a/x", "a-b", "a-c", "z"});
    store(backend).page_size = 1;
  }
  place("obj_cloud1", {"b"});
  store("obj_cloud3").lists_folders_first = true;
  EXPECT_EQ(must(visited()), (Names{"<> a-b", "<> a-c", "<> a/x", "< b", "<> z"}));
  EXPECT_EQ(restarts, 1);
}

TEST_F(AssetWalkTest, PassesAnErrorOfEitherListOn) {
  place("obj_cloud1", {"a"});
  world.unreachable.insert("obj_cloud3");
  auto failed = visited();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::unreachable);
  EXPECT_NE(failed.error().message.find("listing the target"), std::string::npos) << failed.error().message;
}

}  // namespace
}  // namespace dash::storage
