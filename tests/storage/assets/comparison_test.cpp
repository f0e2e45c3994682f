#include "core/storage/assets/comparison.hpp"

#include <gtest/gtest.h>

#include "tests/support/storage_instance.hpp"

namespace dash::storage {
namespace {

class ComparisonTest : public ::testing::Test {
 protected:
  ComparisonTest() {
    world.set("storage_obj_cloud3_bucket", "c");
    put("obj_cloud1", "one", "p8:recorded");
    put("obj_cloud3", "one", "p8:recorded");
  }
  void put(const std::string& backend, const std::string& bytes, const std::string& digest = "") {
    PutOptions options;
    options.digest = digest;
    must(world.stores.at(backend)->put("config-mgmt/a.yml", {bytes}, options));
  }
  Result<CompareResult> compare(bool is_download, std::function<bool()> is_abandoned = {}) {
    NoProgress progress;
    return one.storage.compare(world.admin, {"s3", "gcs", is_download, std::move(is_abandoned)}, progress);
  }
  StorageFixture world;
  Replica one{world};
};

TEST_F(ComparisonTest, ReadsBothSidesOnlyOnRequest) {
  put("obj_cloud3", "two", "p8:recorded");
  EXPECT_TRUE(must(compare(false)).is_same()) << "the recorded digests are the same";
  auto read = must(compare(true));
  ASSERT_EQ(read.different.size(), 1u);
  EXPECT_EQ(read.different[0].name, "a.yml");
}

TEST_F(ComparisonTest, NamesContentThatChangedAfterItsDigestWasRecorded) {
  auto read = must(compare(true));
  ASSERT_EQ(read.different.size(), 1u);
  EXPECT_NE(read.different[0].why.find("p8:recorded was recorded"), std::string::npos)
      << read.different[0].why;
  put("obj_cloud1", "one");
  put("obj_cloud3", "one");
  EXPECT_TRUE(must(compare(true)).is_same());
}

TEST_F(ComparisonTest, StopsWhenItsCallerLeaves) {
  EXPECT_EQ(compare(true, [] { return true; }).error().code, Code::interrupted);
  must(compare(true, [] { return false; }));
}

TEST_F(ComparisonTest, GoesOnAfterAnAssetThatCannotBeRead) {
  put("obj_cloud1", "one");
  put("obj_cloud3", "one");
  must(world.stores.at("obj_cloud1")->put("config-mgmt/gone.yml", "x", {}));
  must(world.stores.at("obj_cloud3")->put("config-mgmt/gone.yml", "x", {}));
  bool is_removed = false;
  auto result = must(compare(true, [&] {
    if (!is_removed) must(world.stores.at("obj_cloud3")->remove("config-mgmt/gone.yml"));
    is_removed = true;
    return false;
  }));
  EXPECT_EQ(result.same, std::vector<std::string>{"a.yml"});
  ASSERT_EQ(result.failed.size(), 1u);
  EXPECT_EQ(result.failed[0].name, "gone.yml");
  EXPECT_EQ(to_json(result)["ok"], false);
}

}  // namespace
}  // namespace dash::storage
