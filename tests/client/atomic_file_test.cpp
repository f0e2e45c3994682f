#include "core/client/atomic_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/base/file.hpp"
#include "tests/support/must.hpp"
#include "tests/support/scratch.hpp"

namespace dash::client {

TEST(AtomicFile, HasNoNameUntilItIsWholeAndReplacesAtOnce) {
  Scratch scratch;
  auto path = scratch / "a.rpm";
  std::ofstream(path) << "old";
  {
    auto dropped = must(AtomicFile::create(path));
    must(dropped.write(0, "half"));
    EXPECT_EQ(must(read_file(path, 100)), "old");
  }
  auto file = must(AtomicFile::create(path));
  must(file.write(3, "def"));
  must(file.write(0, "abc"));
  must(file.commit_file());
  EXPECT_EQ(must(read_file(path, 100)), "abcdef");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch / ""), {}), 1);
}

TEST(AtomicFile, RefusesASizeThatNoDiskHas) {
  Scratch scratch;
  auto file = must(AtomicFile::create(scratch / "a.rpm"));
  must(file.reserve(0));
  must(file.reserve(10));
  EXPECT_FALSE(file.reserve(std::uint64_t{1} << 62));
}

TEST(AtomicFile, NamesTheFolderThatIsNotThere) {
  auto refused = AtomicFile::create("/nonexistent/a.rpm");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("/nonexistent/a.rpm"), std::string::npos);
}

}  // namespace dash::client
