#include "core/storage/store/local/file_page.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace dash::storage::local {
namespace {

Object object_of(const std::string& key) { return {key, 1, "etag", Time(), ""}; }

TEST(FilePage, JoinsPagesOfFilesThatComeInAnyOrder) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < 2 * kPageEntries + 7; ++i) keys.push_back(fmt::format("f{:06}", i));
  auto shuffled = keys;
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(1));
  std::vector<std::string> listed;
  std::string cursor;
  std::size_t pages = 0;
  do {
    FilePage page("f", cursor);
    for (const auto& key : shuffled) page.add(object_of(key));
    auto taken = std::move(page).take();
    for (const auto& object : taken.objects) listed.push_back(object.key);
    cursor = taken.cursor;
    ++pages;
  } while (!cursor.empty());
  EXPECT_EQ(listed, keys);
  EXPECT_EQ(pages, 3u);
}

TEST(FilePage, EndsWithoutACursorWhenItIsJustFull) {
  FilePage page("", "");
  for (std::size_t i = 0; i < kPageEntries; ++i) page.add(object_of(fmt::format("{:06}", i)));
  auto taken = std::move(page).take();
  EXPECT_EQ(taken.objects.size(), kPageEntries);
  EXPECT_EQ(taken.cursor, "");
}

TEST(FilePage, LooksIntoFoldersThatCanHaveItsKeysOnly) {
  FilePage page("a/b", "a/bc/x");
  EXPECT_TRUE(page.may_have_beneath("a/"));
  EXPECT_TRUE(page.may_have_beneath("a/bc/"));  // the cursor lies in it
  EXPECT_TRUE(page.may_have_beneath("a/bd/"));
  EXPECT_FALSE(page.may_have_beneath("a/bb/"));  // before the cursor
  EXPECT_FALSE(page.may_have_beneath("a/c/"));   // outside of the prefix
  EXPECT_FALSE(page.may_have("a/bc/x"));
  EXPECT_TRUE(page.may_have("a/bc/y"));
  EXPECT_FALSE(page.may_have("b"));
}

TEST(FilePage, NeedsNothingBehindAFullPage) {
  FilePage page("", "");
  for (std::size_t i = 0; i <= kPageEntries; ++i) page.add(object_of(fmt::format("k{:06}", i)));
  EXPECT_FALSE(page.may_have("l"));
  EXPECT_FALSE(page.may_have_beneath("l/"));
  EXPECT_TRUE(page.may_have("a"));
  EXPECT_TRUE(page.may_have_beneath("a/"));
}

}  // namespace
}  // namespace dash::storage::local
