#include "core/net/process/find_program.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/base/file.hpp"
#include "tests/support/scratch.hpp"

namespace dash::net {
namespace {

class FindProgram : public testing::Test {
 protected:
  FindProgram() {
    std::filesystem::create_directory(scratch_ / "bin");
    must(write_file(scratch_ / "bin/tool", "#!/bin/sh\n", 0755));
    must(write_file(scratch_ / "bin/notes", "text", 0644));
    if (const char* path = std::getenv("PATH")) path_ = path;
  }
  ~FindProgram() override { ::setenv("PATH", path_.c_str(), 1); }
  void set_path(const std::string& path) { ::setenv("PATH", path.c_str(), 1); }
  Scratch scratch_;
  std::string path_;
};

TEST_F(FindProgram, LooksInTheFoldersOfPathInTheirOrder) {
  set_path(std::string(scratch_ / "none") + ":" + std::string(scratch_ / "bin"));
  EXPECT_EQ(must(find_program("tool")), std::string(scratch_ / "bin/tool"));
  EXPECT_EQ(find_program("notes").error().code, Code::not_found) << "it cannot be executed";
  EXPECT_EQ(find_program("absent").error().code, Code::not_found);
  EXPECT_EQ(find_program("").error().code, Code::not_found);
}

TEST_F(FindProgram, TakesAPathAsItIs) {
  set_path("");
  EXPECT_EQ(must(find_program(scratch_ / "bin/tool")), std::string(scratch_ / "bin/tool"));
  EXPECT_NE(find_program(scratch_ / "bin/notes").error().message.find("notes"), std::string::npos);
  EXPECT_EQ(find_program(scratch_ / "bin").error().code, Code::not_found);
}

TEST_F(FindProgram, UsesNoRelativeFolder) {
  set_path("bin:.:" + std::string(scratch_ / "bin"));
  EXPECT_EQ(must(find_program("tool")), std::string(scratch_ / "bin/tool"));
}

}  // namespace
}  // namespace dash::net
