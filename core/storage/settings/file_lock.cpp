#include "core/storage/settings/file_lock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace dash::storage {

Result<bool> is_file_locked(const std::string& path) {
  // A link leads elsewhere, and a FIFO would block.
  int fd = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) return false;
  if (fd < 0) return fail(Code::upstream, "the lock on '{}' cannot be read: {}", path, std::strerror(errno));
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  bool is_read = ::fcntl(fd, F_OFD_GETLK, &lock) == 0;
  int error = errno;
  ::close(fd);
  if (!is_read)
    return fail(Code::upstream, "the lock on '{}' cannot be read: {}", path, std::strerror(error));
  return lock.l_type != F_UNLCK;
}

}  // namespace dash::storage
