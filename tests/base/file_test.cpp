#include "core/base/file.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "tests/support/must.hpp"
#include "tests/support/scratch.hpp"

namespace dash {
namespace {

TEST(WriteFile, WritesIntoADeviceAndDoesNotReplaceIt) {
  Scratch scratch;
  auto link = scratch / "full";
  std::filesystem::create_symlink("/dev/full", link);
  auto done = write_file(link, "text", 0600);
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("No space left"), std::string::npos) << done.error().message;
  EXPECT_TRUE(std::filesystem::is_symlink(link));
}

TEST(WriteFile, WritesIntoAPipe) {
  Scratch scratch;
  auto pipe = scratch / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = must(read_file(pipe, 100)); });
  must(write_file(pipe, "text", 0600));
  reader.join();
  EXPECT_EQ(read, "text");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST(WriteFile, ReplacesALinkToAFile) {
  Scratch scratch;
  must(write_file(scratch / "precious", "old", 0600));
  std::filesystem::create_symlink(scratch / "precious", scratch / "link");
  must(write_file(scratch / "link", "new", 0600));
  EXPECT_EQ(must(read_file(scratch / "precious", 100)), "old");
  EXPECT_FALSE(std::filesystem::is_symlink(scratch / "link"));
}

TEST(HomeFolder, IsKnownWithoutTheVariable) {
  const char* before = ::getenv("HOME");
  std::string kept = before ? before : "";
  ::unsetenv("HOME");
  auto home = home_folder();
  if (before) ::setenv("HOME", kept.c_str(), 1);
  EXPECT_TRUE(std::filesystem::is_directory(home)) << home;
  EXPECT_TRUE(home.starts_with("/")) << home;
}

}  // namespace
}  // namespace dash
