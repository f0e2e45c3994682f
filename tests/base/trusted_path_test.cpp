#include "core/base/trusted_path.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "core/base/file.hpp"
#include "tests/support/must.hpp"
#include "tests/support/scratch.hpp"

namespace dash {
namespace {

class TrustedFile : public testing::Test {
 protected:
  TrustedFile() {
    std::filesystem::create_directories(scratch_ / "a/b");
    must(write_file(file_, "#!/bin/sh\n", 0755));
    mode("a", 0755);
    mode("a/b", 0755);
  }
  void mode(std::string_view name, mode_t mode) { ASSERT_EQ(::chmod((scratch_ / name).c_str(), mode), 0); }
  static std::string refusal(const std::string& path, uid_t user = ::geteuid()) {
    auto checked = check_trusted_file(path, user);
    return checked ? std::string() : checked.error().message;
  }
  Scratch scratch_;
  std::string file_ = scratch_ / "a/b/run";
};

TEST_F(TrustedFile, PassesBelowFoldersThatNobodyElseWrites) {
  EXPECT_EQ(refusal(file_), "");
  EXPECT_EQ(refusal("/bin/sh"), "") << "through links of root";
  mode("a/b", 0700);
  EXPECT_EQ(refusal(file_), "");
}

TEST_F(TrustedFile, NamesTheFolderThatOthersMayWriteAndTheModeThatWouldDo) {
  mode("a", 0775);
  EXPECT_EQ(refusal(file_),
            scratch_ / "a" + " may be written by others (mode 0775): chmod 0755 " + scratch_ / "a");
  mode("a", 0757);
  EXPECT_NE(refusal(file_).find("chmod 0755"), std::string::npos);
  mode("a", 0755);
  mode("a/b/run", 0770);
  EXPECT_NE(refusal(file_).find("chmod 0750 " + file_), std::string::npos) << refusal(file_);
  mode("a/b/run", 0755);
  EXPECT_EQ(refusal(file_), "");
}

TEST_F(TrustedFile, AStickyFolderIsSafeOnlyWhenItIsRoots) {
  EXPECT_EQ(refusal(file_), "") << "below " << std::filesystem::temp_directory_path();
  mode("a", 01777);
  bool is_root = ::geteuid() == 0;
  EXPECT_EQ(refusal(file_).empty(), is_root);
}

TEST_F(TrustedFile, RefusesWhatBelongsToSomebodyElse) {
  // Only root can give a file away. For any other user its own files take the place of another's.
  constexpr uid_t kOther = 12345;
  bool is_root = ::geteuid() == 0;
  auto give = [&](const std::string& path, uid_t owner) {
    if (is_root) {
      ASSERT_EQ(::chown(path.c_str(), owner, 0), 0);
    }
  };
  for (const auto& path : {file_, scratch_ / "a"}) {
    give(path, kOther);
    auto refused = refusal(file_, is_root ? 0 : kOther);
    EXPECT_NE(refused.find("it has to belong to root"), std::string::npos) << refused;
    EXPECT_EQ(refusal(file_, is_root ? kOther : ::geteuid()), "") << "the server's own user";
    give(path, 0);
  }
}

TEST_F(TrustedFile, ChecksWhatALinkLeadsTo) {
  std::filesystem::create_directory(scratch_ / "links");
  mode("links", 0755);
  std::filesystem::create_symlink("../a/b/run", scratch_ / "links/file");
  std::filesystem::create_symlink(scratch_ / "a", scratch_ / "links/folder");
  for (auto path : {"links/file", "links/folder/b/run", "links/folder/../a/b/run"}) {
    EXPECT_EQ(refusal(scratch_ / path), "") << path;
    mode("a", 0777);
    EXPECT_NE(refusal(scratch_ / path).find(scratch_ / "a" + " may be written"), std::string::npos) << path;
    mode("a", 0755);
    mode("links", 0777);
    EXPECT_NE(refusal(scratch_ / path).find(scratch_ / "links" + " may be written"), std::string::npos)
        << path;
    mode("links", 0755);
  }
}

TEST_F(TrustedFile, RefusesWhatIsNoFile) {
  EXPECT_EQ(check_trusted_file(scratch_ / "none", ::geteuid()).error().code, Code::not_found);
  EXPECT_EQ(check_trusted_file(scratch_ / "a", ::geteuid()).error().code, Code::invalid);
  EXPECT_EQ(check_trusted_file(file_ + "/x", ::geteuid()).error().code, Code::invalid);
  std::filesystem::create_symlink(scratch_ / "loop", scratch_ / "loop");
  EXPECT_EQ(check_trusted_file(scratch_ / "loop", ::geteuid()).error().code, Code::invalid);
}

}  // namespace
}  // namespace dash
