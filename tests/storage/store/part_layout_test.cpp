#include "core/storage/store/part_layout.hpp"

#include <gtest/gtest.h>

namespace dash::storage {

TEST(UploadPlan, CutsIntoEightMebibyteParts) {
  EXPECT_EQ(part_count(1), 1u);
  EXPECT_EQ(part_count(kPartBytes), 1u);
  EXPECT_EQ(part_count(kPartBytes + 1), 2u);
  EXPECT_EQ(part_count(311ull << 20), 39u);
  EXPECT_EQ(part_count(kMaxChunkedBytes), 640u);
  EXPECT_EQ(part_count(0), 1u);
}

TEST(UploadPlan, OnlyTheLastPartIsShorter) {
  auto size = 2 * std::uint64_t{kPartBytes} + 5;
  EXPECT_EQ(part_length(size, 1), kPartBytes);
  EXPECT_EQ(part_length(size, 2), kPartBytes);
  EXPECT_EQ(part_length(size, 3), 5u);
  EXPECT_EQ(part_offset(3), 2 * std::uint64_t{kPartBytes});
  EXPECT_EQ(part_length(kPartBytes, 1), kPartBytes);
}

TEST(UploadPlan, AcceptsExactlyFiveGigabytesAndNotOneByteMore) {
  EXPECT_TRUE(check_chunked_size(5368709120));
  EXPECT_EQ(check_chunked_size(5368709121).error().code, Code::too_large);
  EXPECT_EQ(check_chunked_size(0).error().code, Code::invalid);
  EXPECT_EQ(kMaxInlineBytes, 67108864u);
}

}  // namespace dash::storage
