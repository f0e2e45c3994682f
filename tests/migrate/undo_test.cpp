#include "core/migrate/undo.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/config/masking.hpp"
#include "core/config/regions.hpp"
#include "core/config/registry.hpp"

namespace dash::migrate {
namespace {

// An import of `rows` into a Python dashboard that showed `target` before.
std::string limits(const std::vector<DiffRow>& rows, const config::Values& target,
                   const std::map<std::string, std::string>& refused = {}) {
  Diff diff;
  diff.rows = rows;
  auto replaces = std::ranges::any_of(
      rows, [](const auto& row) { return config::cloud_of_region_blob(row.key).has_value(); });
  diff.target = {{target, config::NameStyle::provider, true}, replaces, diff.warnings};
  ApplyResult applied;
  applied.write_result.refused = refused;
  return to_text(undo_limits(diff, applied));
}

DiffRow add(std::string key) { return {std::move(key), Category::add, 3, ""}; }
DiffRow change(std::string key) { return {std::move(key), Category::change, 3, ""}; }

TEST(UndoLimits, AreNoneWhereOnlyShownValuesChanged) {
  EXPECT_EQ(limits({change("a"), {"b", Category::same, 1, ""}}, {{"a", "1"}, {"b", "2"}}), "");
}

TEST(UndoLimits, CountTheKeysThatWereAdded) {
  EXPECT_EQ(limits({add("a"), change("b")}, {{"b", "1"}}), "remove 1 added key");
  EXPECT_EQ(limits({add("a"), add("c")}, {}), "remove 2 added keys");
  EXPECT_EQ(limits({add("a"), add("c")}, {}, {{"a", "instance_local"}}), "remove 1 added key");
}

TEST(UndoLimits, CountTheKeysThatTheTargetMasks) {
  std::string masked(config::kMask);
  EXPECT_EQ(limits({change("epml_pat")}, {{"epml_pat", masked}}), "bring back the values of 1 masked key");
  EXPECT_EQ(limits({add("a"), change("epml_pat")}, {{"epml_pat", masked}}),
            "remove 1 added key, nor bring back the values of 1 masked key");
}

TEST(UndoLimits, LeaveOutRegionFieldsOfACloudWhoseSetsTheSnapshotReplaces) {
  config::Values target{{"cloud1_region_configs", R"({"r1":{"vpc_id":"v"}})"}};
  EXPECT_EQ(limits({add("cloud1_region.r2.vpc_id")}, target), "");
  EXPECT_EQ(limits({change("cloud1_region_configs")}, target), "");
  EXPECT_EQ(limits({add("cloud2_region.r2.gallery_name")}, target), "remove 1 added key");
  target["cloud1_region_configs"] = "[]";
  EXPECT_EQ(limits({add("cloud1_region.r2.vpc_id")}, target),
            "bring back cloud1_region_configs, which no bundle can hold");
}

}  // namespace
}  // namespace dash::migrate
