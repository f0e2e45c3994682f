#include "daemon/http/range.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash::daemon {
namespace {

std::string told(std::string_view header, std::uint64_t size) {
  auto range = parse_range(header, size);
  if (!range) return std::string(info(range.error().code).word);
  if (!*range) return "whole";
  return fmt::format("{}-{}", (*range)->offset, (*range)->end() - 1);
}

TEST(Range, ReadsTheThreeForms) {
  EXPECT_EQ(told("bytes=0-0", 10), "0-0");
  EXPECT_EQ(told("bytes=4-", 10), "4-9");
  EXPECT_EQ(told("bytes=4-100", 10), "4-9");
  EXPECT_EQ(told("bytes=-3", 10), "7-9");
  EXPECT_EQ(told("bytes=-30", 10), "0-9");
}

TEST(Range, BeyondTheEndIsRefused) {
  for (auto header : {"bytes=10-", "bytes=10-12", "bytes=-0"})
    EXPECT_EQ(told(header, 10), "bad_range") << header;
  EXPECT_EQ(told("bytes=0-", 0), "bad_range");
}

TEST(Range, WhatIsNoSingleByteRangeServesTheWhole) {
  for (auto header : {"", "bytes", "bytes=", "bytes=-", "bytes=5-4", "bytes=1-2,4-5", "items=0-1",
                      "bytes=a-b", "bytes=+1-2", "bytes=0x1-2", "bytes=99999999999999999999-"})
    EXPECT_EQ(told(header, 10), "whole") << header;
}

}  // namespace
}  // namespace dash::daemon
