#include "core/client/new_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/base/file.hpp"
#include "tests/support/must.hpp"
#include "tests/support/scratch.hpp"

namespace dash::client {

TEST(NewFile, HasNoNameUntilItIsWholeAndReplacesAtOnce) {
  Scratch scratch;
  auto path = scratch / "a.rpm";
  std::ofstream(path) << "old";
  {
    auto dropped = must(NewFile::at(path));
    must(dropped.write(0, "half"));
    EXPECT_EQ(must(read_file(path, 100)), "old");
  }
  auto file = must(NewFile::at(path));
  must(file.write(3, "def"));
  must(file.write(0, "abc"));
  must(file.put_in_place());
  EXPECT_EQ(must(read_file(path, 100)), "abcdef");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch / ""), {}), 1);
}

TEST(NewFile, NamesTheFolderThatIsNotThere) {
  auto refused = NewFile::at("/nonexistent/a.rpm");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("/nonexistent/a.rpm"), std::string::npos);
}

}  // namespace dash::client
