#include "core/storage/store/part_runs.hpp"

#include <gtest/gtest.h>

namespace dash::storage {
namespace {

TEST(PartRuns, GivesTheFirstStreamEveryPartInItsOrder) {
  PartRuns runs(3);
  auto run = runs.begin();
  ASSERT_TRUE(run);
  EXPECT_EQ(run->first, 1u);
  EXPECT_EQ(run->last, 3u);
  EXPECT_FALSE(runs.take(3)) << "part 2 comes first";
  EXPECT_TRUE(runs.take(2));
  EXPECT_FALSE(runs.take(2)) << "it has been begun";
  EXPECT_TRUE(runs.take(3));
  EXPECT_FALSE(runs.take(4));
}

TEST(PartRuns, GivesTheBackHalfOfTheLongestRunToALaterStream) {
  PartRuns runs(100);
  ASSERT_TRUE(runs.begin());
  auto second = runs.begin();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->first, 51u);
  EXPECT_EQ(second->last, 100u);
  EXPECT_TRUE(runs.take(52));
  for (std::uint32_t n = 2; n <= 40; ++n) EXPECT_TRUE(runs.take(n)) << n;
  auto third = runs.begin();
  ASSERT_TRUE(third);
  EXPECT_EQ(third->first, 77u) << "of the second, which is longer now";
  EXPECT_EQ(third->last, 100u);
}

TEST(PartRuns, EndsARunWhereAnotherBegan) {
  PartRuns runs(5);
  ASSERT_TRUE(runs.begin());
  auto second = runs.begin();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->first, 4u);
  EXPECT_TRUE(runs.take(2));
  EXPECT_TRUE(runs.take(3));
  EXPECT_FALSE(runs.take(4)) << "the second stream's";
}

TEST(PartRuns, LeavesTheLastPartToTheStreamThatIsThere) {
  PartRuns runs(2);
  ASSERT_TRUE(runs.begin());
  EXPECT_FALSE(runs.begin());
  EXPECT_TRUE(runs.take(2));
}

}  // namespace
}  // namespace dash::storage
