#include "core/storage/settings/file_lock.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "core/base/file.hpp"
#include "tests/support/must.hpp"
#include "tests/support/scratch.hpp"

namespace dash::storage {
namespace {

int lock_file(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  EXPECT_EQ(::fcntl(fd, F_OFD_SETLK, &lock), 0);
  return fd;
}

TEST(FileLock, IsSeenWhileADescriptorHoldsIt) {
  Scratch scratch;
  auto path = scratch / "terraform.tfstate";
  EXPECT_FALSE(must(is_file_locked(path)));
  must(write_file(path, "{}", 0600));
  EXPECT_FALSE(must(is_file_locked(path)));
  int fd = lock_file(path);
  EXPECT_TRUE(must(is_file_locked(path)));
  ::close(fd);
  EXPECT_FALSE(must(is_file_locked(path)));
}

class LockInfo : public ::testing::Test {
 protected:
  bool has_info() { return read_file(info, 100).has_value(); }
  std::size_t files() {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(scratch.path()), {}));
  }
  Scratch scratch;
  std::string state = scratch / "terraform.tfstate";
  std::string info = scratch / ".terraform.tfstate.lock.info";
};

TEST_F(LockInfo, IsRemovedWhereItIsWhatWasRead) {
  must(write_file(info, "one", 0600));
  must(remove_lock_info(state, info, "one"));
  EXPECT_EQ(remove_lock_info(state, info, "one").error().code, Code::not_found);
  must(write_file(state, "{}", 0600));
  must(write_file(info, "one", 0600));
  must(remove_lock_info(state, info, "one"));
  EXPECT_FALSE(has_info());
  EXPECT_EQ(files(), 1u) << "the state alone";
}

TEST_F(LockInfo, StaysWhereAnotherProgramTookTheLockMeanwhile) {
  must(write_file(info, "two", 0600));
  EXPECT_EQ(remove_lock_info(state, info, "one").error().code, Code::conflict);
  EXPECT_EQ(must(read_file(info, 100)), "two");
  EXPECT_EQ(files(), 1u);
}

TEST_F(LockInfo, StaysWhileAProgramHoldsTheState) {
  must(write_file(state, "{}", 0600));
  must(write_file(info, "one", 0600));
  int fd = lock_file(state);
  EXPECT_EQ(remove_lock_info(state, info, "one").error().code, Code::conflict);
  EXPECT_TRUE(has_info());
  ::close(fd);
  must(remove_lock_info(state, info, "one"));
}

}  // namespace
}  // namespace dash::storage
