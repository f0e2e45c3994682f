#include "core/storage/settings/file_lock.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/base/file.hpp"
#include "tests/support/must.hpp"
#include "tests/support/scratch.hpp"

namespace dash::storage {
namespace {

TEST(FileLock, IsSeenWhileADescriptorHoldsIt) {
  Scratch scratch;
  auto path = scratch / "terraform.tfstate";
  EXPECT_FALSE(must(is_file_locked(path)));
  must(write_file(path, "{}", 0600));
  EXPECT_FALSE(must(is_file_locked(path)));
  int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  ASSERT_EQ(::fcntl(fd, F_OFD_SETLK, &lock), 0);
  EXPECT_TRUE(must(is_file_locked(path)));
  ::close(fd);
  EXPECT_FALSE(must(is_file_locked(path)));
}

}  // namespace
}  // namespace dash::storage
